// The configuration of broker, worker and client, as they themselves see it, and the endpoints in it.
#include <sstream>

#include "clients/cli/doctor/listener.h"
#include "clients/cli/doctor/probes.h"
#include "common/config/config_file.h"

namespace skerry::cli::doctor {
namespace {

constexpr Millis kPatience{750};

/// Only what must be given is missing: this machine has no such process configured.
bool IsMissing(const std::string& fault) {
  return fault.find(" must be given: ") != std::string::npos;
}

/// What the process prints; faults become findings.
std::string ProbeProcess(Machine& machine, const std::string& check, std::vector<std::string> command,
                         const Installation& installation, Findings& findings) {
  command.emplace_back("--print-config");
  command.insert(command.end(), installation.config_flags.begin(), installation.config_flags.end());
  constexpr const char* kWhy = "a process with a faulty configuration does not start";
  const Ran ran = machine.Run(command, "", kPatience);
  if (ran.ok()) {
    findings.push_back(Good(check, "sound; " + FirstLine(ran.out).substr(2), kWhy));
    return ran.out;
  }
  bool faulty = false;
  std::istringstream lines(ran.err);
  for (std::string line; std::getline(lines, line);) {
    if (IsMissing(line)) continue;
    faulty = true;
    findings.push_back(Bad(check, FirstLine(line), kWhy, "correct it"));
  }
  if (faulty) return {};
  if (ran.status == 2 && IsMissing(ran.err)) {
    findings.push_back(Good(check, "no endpoints are configured", "they can be given as flags"));
  } else {
    findings.push_back(Bad(check,
                           command.front() + (ran.timed_out ? " did not end in time" : " cannot be run"),
                           kWhy, "build again (./dev build)"));
  }
  return {};
}

/// Texts of one key of what --print-config printed.
std::vector<std::string> TextsAt(const std::string& toml, const std::string& path) {
  const auto parsed = config::ParseConfig(toml, "--print-config");
  if (!parsed) return {};
  for (const config::Entry& entry : parsed->entries) {
    const auto* value = std::get_if<config::Value>(&entry.value);
    if (entry.path != path || value == nullptr) continue;
    if (const auto* list = std::get_if<config::TextList>(value)) return *list;
    if (const auto* text = std::get_if<std::string>(value); text != nullptr && !text->empty()) return {*text};
  }
  return {};
}

std::string TextAt(const std::string& toml, const std::string& path) {
  const auto texts = TextsAt(toml, path);
  return texts.empty() ? std::string() : texts.front();
}

ConfiguredBrokers BrokersOf(const std::string& part, keys::Role role, const std::string& toml) {
  return {part + "_brokers", role, TextsAt(toml, part + ".broker"), TextAt(toml, part + ".key"),
          TextAt(toml, part + ".broker_key")};
}

/// Those that operators' commands ask.
ConfiguredBrokers AdminOf(const std::string& toml) {
  return {"client_admin", keys::Role::kAdmin, TextsAt(toml, "client.admin"), TextAt(toml, "client.admin_key"),
          TextAt(toml, "client.broker_key")};
}

}  // namespace

void ProbeEndpoint(Machine& machine, const std::string& endpoint, Findings& findings) {
  const std::string check = "endpoint";
  constexpr std::string_view kIpc = "ipc://";
  constexpr const char* kWhy = "the broker listens on what its configuration says";
  if (const auto listener = ListenerOn(machine, endpoint)) {
    const std::string who = listener->program.empty() ? "a process of another user"
                                                      : listener->program + " (" + listener->pid + ")";
    if (listener->program == "skerry-broker") {
      findings.push_back(Good(check, endpoint + ": served by " + who, kWhy));
    } else {
      findings.push_back(Poor(check, endpoint + ": taken by " + who, kWhy,
                              "end that process, or give the broker another endpoint"));
    }
    return;
  }
  if (endpoint.starts_with(kIpc)) {
    const std::string path = endpoint.substr(kIpc.size());
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    if (!machine.FreeSpace(folder)) {
      findings.push_back(Poor(check, endpoint + ": the folder " + folder + " is not there", kWhy,
                              "mkdir it, or RuntimeDirectory= in the unit"));
      return;
    }
    if (!machine.CanWrite(folder)) {
      findings.push_back(Poor(check, endpoint + ": this user may not write to " + folder, kWhy,
                              "run the broker as the folder's owner, or give it another endpoint"));
      return;
    }
  }
  findings.push_back(Good(check, endpoint + ": free", kWhy));
}

void ProbeConfiguration(Machine& machine, const Installation& installation, Findings& findings) {
  const std::string& binaries = installation.binaries;
  const std::string broker =
      ProbeProcess(machine, "broker_configuration", {binaries + "/skerry-broker"}, installation, findings);
  const std::string worker =
      ProbeProcess(machine, "worker_configuration", {binaries + "/skerry-worker"}, installation, findings);
  const std::string client =
      ProbeProcess(machine, "client_configuration", {binaries + "/skerry", "run"}, installation, findings);
  for (const char* key : {"broker.clients", "broker.workers", "broker.admin"}) {
    for (const std::string& endpoint : TextsAt(broker, key)) ProbeEndpoint(machine, endpoint, findings);
  }
  for (const std::string& address : TextsAt(broker, "broker.metrics")) {
    ProbeEndpoint(machine, "tcp://" + address, findings);
  }
  ProbeBrokers(machine, BrokersOf("worker", keys::Role::kWorker, worker), findings);
  ProbeBrokers(machine, BrokersOf("client", keys::Role::kClient, client), findings);
  ProbeBrokers(machine, AdminOf(client), findings);
  ProbeRedis(machine,
             {TextAt(broker, "broker.redis"), TextAt(broker, "broker.redis_user"),
              TextAt(broker, "broker.redis_password_file")},
             findings);
}

}  // namespace skerry::cli::doctor
