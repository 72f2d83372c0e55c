// Two brokers, three workers, four clients, each on a machine of its own: links that are cut, go silent or
// slow, and programs that are killed and started again, under load.
//
// Each kind of fault alone on each kind of machine; and, under the label `full`, a hundred by chance, and
// outages longer than every patience. SKERRY_FAULTS_SEED gives another schedule; it is printed.
#include <cstdlib>
#include <random>

#include "tests/netns/cluster_load.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;

class NetworkFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = Network::Missing()) GTEST_SKIP() << *why;
  }
  static void LiveThrough(const std::vector<Strike>& strikes, milliseconds lasts) {
    ClusterLoad load(static_cast<int>(strikes.size()));
    for (const Strike& strike : strikes) {
      load.Strike(strike, lasts);
      if (::testing::Test::HasFatalFailure()) return;
    }
    load.End();
  }
};
class NetworkFaultsFull : public NetworkFaults {};

constexpr milliseconds kShort{1'200};

TEST_F(NetworkFaults, ALinkThatIsCutOrSilentCostsNoJobItsOneFinal) {
  LiveThrough({{Fault::kCut, "broker0"},
               {Fault::kCut, "worker1"},
               {Fault::kCut, "client0"},
               {Fault::kSilence, "broker1"},
               {Fault::kSilence, "worker0"},
               {Fault::kSilence, "client1"}},
              kShort);
}

TEST_F(NetworkFaults, ALinkOf200MillisecondsThatLosesPacketsOnlySlowsThingsDown) {
  LiveThrough({{Fault::kSlow, "broker0"}, {Fault::kSlow, "worker1"}, {Fault::kSlow, "client0"}},
              milliseconds(2'000));
}

TEST_F(NetworkFaults, AProgramThatIsKilledAndComesBackCostsNoJobItsOneFinal) {
  LiveThrough({{Fault::kKill, "broker1"}, {Fault::kKill, "worker1"}, {Fault::kKill, "client3"}},
              milliseconds(500));
}

TEST_F(NetworkFaults, TheOtherBrokerTakesOverFromOneThatDiesForGood) {
  ClusterLoad load(0);
  load.StrikeForGood({Fault::kKill, "broker0"});
  if (!HasFatalFailure()) load.End();
}

TEST_F(NetworkFaultsFull, AHundredByChance) {
  const char* text = std::getenv("SKERRY_FAULTS_SEED");
  const std::uint64_t seed = text == nullptr ? 1 : std::strtoull(text, nullptr, 0);
  std::printf("SKERRY_FAULTS_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const std::vector<std::string> machines = {"broker0", "broker1", "worker0", "worker1", "worker2",
                                             "client0", "client1", "client2", "client3"};
  constexpr int kStrikes = 100;
  ClusterLoad load(kStrikes, milliseconds(5'000));
  for (int i = 0; i < kStrikes && !HasFatalFailure(); ++i) {
    Strike strike{static_cast<Fault>(random() % 4), machines[random() % machines.size()]};
    // Of the clients, only one is a program of its own.
    if (strike.fault == Fault::kKill && strike.machine.starts_with("client")) strike.machine = "client3";
    load.Strike(strike, milliseconds(200 + random() % 2'800));
  }
  load.End();
}

TEST_F(NetworkFaultsFull, OutagesLongerThanEveryPatience) {
  LiveThrough({{Fault::kCut, "worker0"}, {Fault::kSilence, "client0"}, {Fault::kCut, "broker1"}},
              milliseconds(15'000));
}

}  // namespace
}  // namespace skerry::testing
