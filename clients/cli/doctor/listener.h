// Who listens on an endpoint, from the kernel's tables: nobody is connected to for it.
//
// Threads: one.
#pragma once

#include <optional>
#include <string>

#include "clients/cli/doctor/machine.h"

namespace skerry::cli::doctor {

struct Listener {
  std::string program;  ///< empty: a process that this user may not look at
  std::string pid;
};

/// `endpoint`: ipc://PATH or tcp://HOST:PORT. Nothing: nobody listens.
std::optional<Listener> ListenerOn(Machine& machine, const std::string& endpoint);

}  // namespace skerry::cli::doctor
