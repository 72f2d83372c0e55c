// Two brokers, three workers and four clients, each on a machine of its own, and what can happen to them.
//
//   Cluster cluster;
//   Load load(cluster.ClientOf(0), pace, source);      // inside: const auto visit = cluster.VisitClient(0)
//   cluster.Strike({Fault::kCut, "worker1"});  ...  cluster.Heal({Fault::kCut, "worker1"});
//
// Machines are named broker0, broker1, worker0, worker1, worker2, client0 ... client3. A machine's address
// and keys stay the same whatever happens to its program.
//
// Threads: one; ClientOf and the addresses are constant. Ownership: the destructor ends the programs, then
// the network. Errors: what does not start throws.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/cpp/client_types.h"
#include "tests/netns/namespaces.h"
#include "tests/support/child.h"
#include "tests/support/places.h"

namespace skerry::testing {

enum class Fault : std::uint8_t { kCut, kSilence, kSlow, kKill };
inline constexpr const char* kFaults[] = {"cut", "silence", "slow", "kill"};

struct Strike {
  Fault fault;
  std::string machine;
};

class Cluster {
 public:
  static constexpr int kBrokers = 2;
  static constexpr int kWorkers = 3;
  static constexpr int kClients = 4;
  static constexpr int kSlots = 4;  // of each worker
  static constexpr std::chrono::milliseconds kSlowBy{200};
  static constexpr unsigned kSlowLosesPerMille = 50;

  Cluster();
  ~Cluster();

  /// Begins; a killed program stays away until Heal.
  void Begin(const Strike& strike);
  void Heal(const Strike& strike);

  /// How a client of this process connects; its thread must live on that machine (VisitClient).
  ClientOptions ClientOf(int client) const;
  Network::Visit VisitClient(int client) const;
  /// `skerry run` of these arguments on a client's machine. One at a time; Begin kills it, Heal starts it
  /// again with the same.
  void RunOn(int client, std::vector<std::string> arguments);
  Child& ProgramOn(const std::string& machine) { return *programs_.at(machine); }
  bool Runs(const std::string& machine) const { return programs_.contains(machine); }

  std::filesystem::path LogOf(const std::string& machine) const { return dir_ / (machine + ".log"); }
  pid_t PidOf(const std::string& machine) const { return programs_.at(machine)->pid(); }
  /// All logs' last lines, for a failing test's message.
  std::string Story() const;
  bool has_netem() const { return network_.has_netem(); }

 private:
  void MakeKeys();
  std::string Keygen(const std::string& name, const std::vector<std::string>& arguments);
  /// Where a machine finds the brokers: all of them, each with its key.
  std::vector<std::string> PlacesFor(const std::string& machine) const;
  std::vector<std::string> LinkOf(const std::string& machine) const;
  void Start(const std::string& machine, std::vector<std::string> argv);
  std::vector<std::string> CommandOf(const std::string& machine) const;

  TempDir dir_;
  Network network_;
  std::map<std::string, std::string> public_keys_;
  std::map<std::string, std::vector<std::string>> commands_;
  std::map<std::string, std::unique_ptr<Child>> programs_;
};

}  // namespace skerry::testing
