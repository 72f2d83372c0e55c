// A network of this test's own: a namespace per node, each with an interface and an address, joined by a
// bridge in one more namespace. Links can be cut, silenced, delayed and made to lose packets.
//
//   if (const auto why = Network::Missing()) GTEST_SKIP() << *why;
//   Network network({"broker0", "worker0"});
//   Child broker(network.Inside("broker0", {Binary("skerry-broker"), ...}));
//   network.Cut("worker0");  ...  network.Heal("worker0");
//
//   netns skerry-PID-broker0          netns skerry-PID-hub
//     eth0 10.77.0.2/24  ──veth──▶  p0 ─┐
//   netns skerry-PID-worker0            bridge br0
//     eth0 10.77.0.3/24  ──veth──▶  p1 ─┘
//
// Nothing outside of these namespaces is touched: veths are made inside the hub, and the machine's own
// interfaces, routes and addresses are neither seen nor changed. Namespaces carry the test's pid in their
// names; those of a test that died are removed by the next one.
//
// Threads: one, but for Enter, which is of the thread that calls it. Ownership: the destructor removes all of
// it, processes inside must have ended. Errors: what cannot be set up throws, with ip's own words.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "tests/netns/slow_wire.h"

namespace skerry::testing {

class Network {
 public:
  explicit Network(const std::vector<std::string>& nodes);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Why there can be none here: not root, no iproute2, a machine that forbids it; nothing: there can.
  static std::optional<std::string> Missing();
  /// Removes namespaces of tests that are no more; how many.
  static int RemoveStale();

  std::string AddressOf(const std::string& node) const;
  /// The command line that runs `argv` inside.
  std::vector<std::string> Inside(const std::string& node, const std::vector<std::string>& argv) const;

  /// The cable is pulled: both ends see it.
  void Cut(const std::string& node);
  /// The cable stays, and nothing passes: as a switch that dies, or a machine that freezes.
  void Silence(const std::string& node);
  /// Both ways: packets take so much longer, and so many of 1,000 are lost.
  void Degrade(const std::string& node, std::chrono::milliseconds delay, unsigned lost_per_mille);
  /// As it was at first, whatever was done to it.
  void Heal(const std::string& node);
  /// What Degrade does it with: the kernel's netem, or where it has none, SlowWire.
  bool has_netem() const { return has_netem_; }

  /// The calling thread, and those it starts meanwhile, live inside while this lives.
  class Visit {
   public:
    Visit(const Network& network, const std::string& node);
    ~Visit();
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    Fd home_;
  };

 private:
  struct Node {
    int number = 0;
    std::string port;  // in the hub
    std::unique_ptr<SlowWire> wire;
  };

  std::string NameOf(const std::string& node) const;
  void AddNode(const std::string& node);
  Node& At(const std::string& node) { return nodes_.at(node); }
  void RemoveAll();

  const std::string prefix_;
  bool has_netem_ = false;
  std::map<std::string, Node> nodes_;
};

}  // namespace skerry::testing
