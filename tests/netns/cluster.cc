#include "tests/netns/cluster.h"

#include <signal.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kForClients = ":7001";
constexpr const char* kForWorkers = ":7002";
constexpr milliseconds kStart{20'000};

std::string Numbered(const char* kind, int number) {
  return kind + std::to_string(number);
}

std::vector<std::string> Machines() {
  std::vector<std::string> machines;
  for (int i = 0; i < Cluster::kBrokers; ++i) machines.push_back(Numbered("broker", i));
  for (int i = 0; i < Cluster::kWorkers; ++i) machines.push_back(Numbered("worker", i));
  for (int i = 0; i < Cluster::kClients; ++i) machines.push_back(Numbered("client", i));
  return machines;
}

}  // namespace

Cluster::Cluster() : network_(Machines()) {
  if (!StackIsBuilt()) throw std::runtime_error("the stack is not built in " + Binary("").string());
  MakeKeys();
  for (const std::string& machine : Machines()) {
    if (machine.starts_with("client")) continue;
    Start(machine, CommandOf(machine));
  }
}

Cluster::~Cluster() = default;

std::string Cluster::Keygen(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {Binary("skerry"), "keygen", "-o", dir_ / (name + ".key")};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const auto out = dir_ / (name + ".pub");
  Child child(argv, {.stdout_path = out, .stderr_path = dir_ / "keygen.log"});
  if (child.Wait(kStart) != 0) throw std::runtime_error("skerry keygen: " + ReadFile(dir_ / "keygen.log"));
  std::string key = ReadFile(out);
  key.erase(std::remove(key.begin(), key.end(), '\n'), key.end());
  return key;
}

void Cluster::MakeKeys() {
  std::string clients = "[clients]\n";
  std::string workers = "[workers]\n";
  for (const std::string& machine : Machines()) {
    std::vector<std::string> role = {"--role", machine.substr(0, machine.size() - 1)};
    if (machine.starts_with("client")) role.insert(role.end(), {"--tenant", machine});
    const std::string key = public_keys_[machine] = Keygen(machine, role);
    if (machine.starts_with("client")) clients += "\"" + machine + "\" = ['" + key + "']\n";
    if (machine.starts_with("worker")) workers += "\"" + machine + "\" = ['" + key + "']\n";
  }
  WriteFile(dir_ / "authorized.toml", clients + workers);
  std::filesystem::permissions(dir_ / "authorized.toml", std::filesystem::perms::owner_read);
}

std::vector<std::string> Cluster::PlacesFor(const std::string& machine) const {
  std::vector<std::string> places;
  for (int i = 0; i < kBrokers; ++i) {
    const std::string broker = Numbered("broker", i);
    places.push_back("tcp://" + network_.AddressOf(broker) +
                     (machine.starts_with("worker") ? kForWorkers : kForClients) + " " +
                     public_keys_.at(broker));
  }
  return places;
}

std::vector<std::string> Cluster::LinkOf(const std::string& machine) const {
  std::vector<std::string> flags = {"--key", dir_ / (machine + ".key")};
  for (const std::string& place : PlacesFor(machine)) flags.insert(flags.end(), {"--broker", place});
  return flags;
}

std::vector<std::string> Cluster::CommandOf(const std::string& machine) const {
  if (machine.starts_with("broker")) {
    const std::string key = dir_ / (machine + ".key");
    const std::string here = "tcp://" + network_.AddressOf(machine);
    return {Binary("skerry-broker"),
            "--clients",
            here + kForClients,
            "--workers",
            here + kForWorkers,
            "--key",
            key,
            "--authorized",
            dir_ / "authorized.toml",
            "--log-level",
            "debug"};
  }
  std::vector<std::string> argv = {
      Binary("skerry-worker"), "--isolates", std::to_string(kSlots), "--memory-mb", "2048",
      "--log-level",           "debug"};
  const auto link = LinkOf(machine);
  argv.insert(argv.end(), link.begin(), link.end());
  return argv;
}

void Cluster::Start(const std::string& machine, std::vector<std::string> argv) {
  commands_[machine] = argv;
  const auto log = LogOf(machine);
  programs_[machine] = std::make_unique<Child>(network_.Inside(machine, argv),
                                               ChildStreams{.stdout_path = log, .stderr_path = log});
}

ClientOptions Cluster::ClientOf(int client) const {
  const std::string machine = Numbered("client", client);
  ClientOptions options;
  options.brokers = PlacesFor(machine);
  options.key_file = dir_ / (machine + ".key");
  options.connect_timeout = Millis(kStart);
  return options;
}

Network::Visit Cluster::VisitClient(int client) const {
  return Network::Visit(network_, Numbered("client", client));
}

void Cluster::RunOn(int client, std::vector<std::string> arguments) {
  const std::string machine = Numbered("client", client);
  std::vector<std::string> argv = {Binary("skerry"), "run"};
  const auto link = LinkOf(machine);
  argv.insert(argv.end(), link.begin(), link.end());
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Start(machine, std::move(argv));
}

void Cluster::Begin(const Strike& strike) {
  switch (strike.fault) {
    case Fault::kCut:
      return network_.Cut(strike.machine);
    case Fault::kSilence:
      return network_.Silence(strike.machine);
    case Fault::kSlow:
      return network_.Degrade(strike.machine, kSlowBy, kSlowLosesPerMille);
    case Fault::kKill:
      programs_.erase(strike.machine);
      return;
  }
}

void Cluster::Heal(const Strike& strike) {
  if (strike.fault != Fault::kKill) return network_.Heal(strike.machine);
  Start(strike.machine, commands_.at(strike.machine));
}

std::string Cluster::Story() const {
  constexpr std::size_t kShown = 3'000;
  std::string story;
  for (const std::string& machine : Machines()) {
    const std::string log = ReadFile(LogOf(machine));
    story += "\n" + machine + ": ..." + log.substr(log.size() - std::min(log.size(), kShown));
  }
  return story;
}

}  // namespace skerry::testing
