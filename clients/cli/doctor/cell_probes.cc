// The V8 host, what holds it in, and a job that really runs.
#include <sstream>

#include "clients/cli/doctor/probes.h"
#include "common/sandbox_level.h"

namespace skerry::cli::doctor {
namespace {

constexpr Millis kStartPatience{1'500};
constexpr int kUsage = 2;
constexpr const char* kStrict = "strict";
constexpr const char* kBuildAgain =
    "build again (./dev build), or restore build and node_modules together; install again (./dev install "
    "DIR) "
    "what is installed";

std::string WhatWentWrong(const Ran& ran) {
  if (ran.timed_out) return "did not end in time";
  const std::string said = FirstLine(ran.err);
  if (!said.empty()) return said;
  return ran.status ? "exit status " + std::to_string(*ran.status) : "died of a signal";
}

/// Started without our object, the host must refuse to run as Node.
void ProbeFailsClosed(Machine& machine, const std::string& cell, Findings& findings) {
  constexpr const char* kWhy =
      "a host without our object would run its arguments as a Node program, outside every wall";
  const Ran where = machine.Run({cell, "--host-command"}, "", kStartPatience);
  std::vector<std::string> command;
  for (std::size_t begin = 0; begin < where.out.size();) {
    const std::size_t end = where.out.find('\n', begin);
    if (end == std::string::npos) break;
    command.push_back(where.out.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!where.ok() || command.size() != 2) {
    findings.push_back(Bad("preload", WhatWentWrong(where), kWhy, kBuildAgain));
    return;
  }
  command.insert(command.end(), {"-e", "console.log('ran')"});
  const Ran bare = machine.Run(command, "", kStartPatience);
  if (bare.status && *bare.status != 0 && bare.out.empty()) {
    findings.push_back(Good("preload", "our object runs in the host, and the host alone refuses", kWhy));
  } else {
    findings.push_back(Bad("preload", "the host ran without our object", kWhy,
                           "do not run jobs here; install the pinned host again (npm ci)"));
  }
}

/// What `skerry-worker --probe-sandbox` prints: see worker/agent/main.cc.
struct ProbedSandbox {
  std::string held;  ///< its first line: level and mechanisms
  std::optional<SandboxLevel> level;
  std::string mode = kStrict;
  std::string chosen_by;  ///< "skerry.toml:7"
  std::string missing;    ///< with how to grant it
};

ProbedSandbox Parse(const std::string& out) {
  constexpr std::string_view kUnder = "under --sandbox=";
  constexpr std::string_view kMissing = "missing: ";
  ProbedSandbox probed;
  probed.held = FirstLine(out);
  probed.level = SandboxLevelByName(probed.held.substr(0, probed.held.find(' ')));
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kMissing)) probed.missing = FirstLine(line.substr(kMissing.size()));
    if (!line.starts_with(kUnder)) continue;
    const std::string rest = FirstLine(line.substr(kUnder.size()));
    const std::size_t space = rest.find(' ');
    probed.mode = rest.substr(0, space);
    if (space != std::string::npos) probed.chosen_by = rest.substr(space);
  }
  return probed;
}

/// Of workers that were told to do without strict.
Finding WeakenedSandbox(const ProbedSandbox& probed) {
  const std::string who = "your workers are configured " + probed.mode + probed.chosen_by;
  if (probed.mode == "off") {
    return Poor("sandbox", who + ": nothing holds programs in",
                "a program that breaks out of V8 then has the worker's user, files and network; off is for "
                "looking for faults only",
                "take that setting away: the default is strict");
  }
  if (*probed.level == SandboxLevel::kNone) {
    return Poor("sandbox", who + ", and this machine gives " + probed.held,
                "jobs run all the same, with a hole around them",
                "grant " + probed.missing + ", then say strict");
  }
  return Poor("sandbox", who + ": " + probed.held,
              "a cell would start just as well on a day on which a part of that is missing",
              "say strict: this machine has all that it asks for");
}

}  // namespace

void ProbeCell(Machine& machine, const Installation& installation, Findings& findings) {
  const std::string cell = installation.binaries + "/skerry-cell";
  constexpr const char* kWhy = "every job runs in a fork of it";
  if (!machine.CanExecute(cell)) {
    findings.push_back(Bad("cell", cell + " is not there or cannot be executed", kWhy, kBuildAgain));
    return;
  }
  // The cell refuses a host of another V8 than it was compiled against by itself.
  const Ran version = machine.Run({cell, "--version"}, "", kStartPatience);
  if (!version.ok()) {
    findings.push_back(Bad("cell", WhatWentWrong(version), kWhy, kBuildAgain));
    return;
  }
  findings.push_back(
      Good("cell", FirstLine(version.out), "the pinned V8 host starts, and " + std::string(kWhy)));
  ProbeFailsClosed(machine, cell, findings);
}

std::string ProbeSandbox(Machine& machine, const Installation& installation, Millis patience,
                         Findings& findings) {
  constexpr const char* kWhy = "what holds programs in";
  std::vector<std::string> command = {installation.binaries + "/skerry-worker", "--probe-sandbox"};
  command.insert(command.end(), installation.config_flags.begin(), installation.config_flags.end());
  const Ran ran = machine.Run(command, "", patience);
  if (!ran.ok()) {
    findings.push_back(Bad("sandbox", WhatWentWrong(ran), kWhy,
                           ran.status == kUsage
                               ? "correct the worker's configuration; until then no worker starts"
                               : "grant what it needs: until then strict starts no cell, and no job runs"));
    return kStrict;
  }
  const ProbedSandbox probed = Parse(ran.out);
  if (!probed.level) {
    findings.push_back(Bad("sandbox", "the worker told " + probed.held, kWhy, kBuildAgain));
  } else if (probed.mode != kStrict) {
    findings.push_back(WeakenedSandbox(probed));
  } else if (*probed.level == SandboxLevel::kNamespaces) {
    findings.push_back(Good("sandbox", probed.held, std::string(kWhy) + ", under --sandbox=strict"));
  } else if (*probed.level != SandboxLevel::kNone) {
    findings.push_back(
        Poor("sandbox", probed.held,
             std::string(kWhy) + ": all that strict promises, by fewer walls than there could be",
             "see namespaces and landlock above"));
  } else {
    findings.push_back(Bad("sandbox", "the worker told " + probed.held, kWhy, kBuildAgain));
  }
  return probed.mode;
}

void ProbeJob(Machine& machine, const Installation& installation, const std::string& sandbox, Millis patience,
              Findings& findings) {
  constexpr const char* kWhy = "broker, worker, cell and isolate work together";
  const Ran ran = machine.Run({installation.binaries + "/skerry", "exec", "-", "--config", "", "--broker", "",
                               "--timeout-ms", "2000", "--memory-mb", "64", "--sandbox", sandbox},
                              "return 6 * 7", patience);
  if (ran.ok() && ran.out == "42\n") {
    findings.push_back(
        Good("job", "ran in a private pool, all in " + std::to_string(ran.took.count()) + " ms", kWhy));
    return;
  }
  findings.push_back(Bad("job", ran.ok() ? "gave " + FirstLine(ran.out) : WhatWentWrong(ran), kWhy,
                         "see what failed above; skerry exec FILE.js --log-level debug says more"));
}

}  // namespace skerry::cli::doctor
