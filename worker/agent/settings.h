// What an operator may set on a worker, as flags, variables and the table [worker] of skerry.toml.
//
// Threads: the main thread, before the worker starts. Ownership: the settings refer to the options.
// Errors: each setting's own range here; what spans several in WorkerOptions::Validate.
#pragma once

#include <string>

#include "common/config/settings.h"
#include "worker/agent/worker_options.h"

namespace skerry::agent {

struct AgentOptions {
  WorkerOptions worker;
  std::string log_level = "info";
  std::string log_format = "text";
};

/// One line per setting: adding one is adding a line.
void Describe(config::Settings& settings, AgentOptions& options);

/// Computed defaults for what was not given, then every fault that is left.
Status Finish(const config::Settings& settings, AgentOptions& options, unsigned cores, Bytes memory);

}  // namespace skerry::agent
