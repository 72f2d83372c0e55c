// The doctor's probes, by group. Each appends what it found; none changes the machine.
//
// Threads: one. Errors: everything that goes wrong is a finding.
#pragma once

#include <string>

#include "clients/cli/doctor/finding.h"
#include "clients/cli/doctor/machine.h"

namespace skerry::cli::doctor {

/// Where Skerry's programs are, and how the doctor was told to find its configuration.
struct Installation {
  std::string binaries;                   ///< the folder of skerry, skerry-broker, …
  std::vector<std::string> config_flags;  ///< {"--config", FILE}, or nothing
};

void ProbeKernel(Machine& machine, Findings& findings);
void ProbeMemory(Machine& machine, Findings& findings);
void ProbeResources(Machine& machine, Findings& findings);
void ProbeCell(Machine& machine, const Installation& installation, Findings& findings);
/// Has the worker start one cell under the --sandbox that is configured, for which the doctor has `patience`
/// left. Returns that mode's name.
std::string ProbeSandbox(Machine& machine, const Installation& installation, Millis patience,
                         Findings& findings);
/// Runs one job in a private pool under that --sandbox, for which the doctor has `patience` left.
void ProbeJob(Machine& machine, const Installation& installation, const std::string& sandbox, Millis patience,
              Findings& findings);
void ProbeConfiguration(Machine& machine, const Installation& installation, Findings& findings);
/// What a worker or a client is configured to use.
struct ConfiguredBrokers {
  std::string check;  ///< what its findings are called
  keys::Role role = keys::Role::kClient;
  std::vector<std::string> places;
  std::string key_file;    ///< empty: none
  std::string broker_key;  ///< of all that have none of their own
};
/// Each address is tried, and by TCP whether the broker there lets the key in.
void ProbeBrokers(Machine& machine, const ConfiguredBrokers& configured, Findings& findings);
/// What a broker is configured to share rates through.
struct ConfiguredRedis {
  std::string address;  ///< empty: none
  std::string user;
  std::string password_file;
};
/// Whether it answers, and takes the password.
void ProbeRedis(Machine& machine, const ConfiguredRedis& configured, Findings& findings);
/// One endpoint of the configuration: free, ours, or somebody else's.
void ProbeEndpoint(Machine& machine, const std::string& endpoint, Findings& findings);

}  // namespace skerry::cli::doctor
