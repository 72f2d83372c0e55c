// What tests do with cells that start the host binary and fork it.
//
// Threads: one. Errors: fail the test; nothing waits longer than some seconds.
#pragma once

#include <sys/resource.h>

#include <memory>
#include <string>
#include <string_view>

#include "common/outcome.h"
#include "worker/cell/cell_process.h"

namespace skerry::cell::testing {

/// Path of skerry-cell.
std::string CellBinary();

/// A base cell; null where it does not start. `program`: empty for skerry-cell.
std::unique_ptr<CellProcess> StartCell(const std::string& program = {});

/// Waits until a cell has something to collect; lets a program cell fork meanwhile, if `reports` is the
/// listener of its base cell, as often as it was asked to.
void AwaitFork(CellProcess& cell, int reports = -1);
/// Asks for an isolate and collects it.
IsolateProcess Fork(CellProcess& cell, int reports = -1);

void SendJob(const IsolateProcess& isolate, std::string_view code, std::string_view input = "");
/// The FINAL of its job, with its payload.
Outcome AwaitOutcome(const IsolateProcess& isolate);
/// Waits for the isolate's end as its parent; fails the test when we are not. Negative: of that signal.
int Reap(const IsolateProcess& isolate, rusage* usage = nullptr);
int KillAndReap(const IsolateProcess& isolate);

/// Whether `fd` becomes readable within five seconds.
bool Readable(int fd);

}  // namespace skerry::cell::testing
