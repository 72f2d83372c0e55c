// Peers that connect and say nothing, or half of what a handshake is: they cost neither others' place nor
// memory, and are gone within the handshake's time.
#include <algorithm>
#include <vector>

#include "common/testing/proc_fs.h"
#include "tests/attack/attack.h"

namespace skerry::testing {
namespace {

constexpr std::size_t kCrowd = 1'000;

class SilentPeers : public Attack {
 protected:
  /// So many connections to the clients' and to the workers' endpoint in turn, each of which says `words`.
  std::vector<Fd> Come(std::size_t count, const std::string& words = {}) {
    std::vector<Fd> crowd;
    for (std::size_t i = 0; i < count; ++i) {
      crowd.push_back(ConnectRaw(i % 2 == 0 ? pool().client_port() : pool().worker_port()));
      EXPECT_TRUE(crowd.back().valid()) << i;
      if (!words.empty()) SayRaw(crowd.back(), words);
      most_descriptors_ = std::max(most_descriptors_, DescriptorsOf(pool().broker()));
    }
    return crowd;
  }
  /// A tenant who comes now is served like one who was there before.
  void ExpectNewcomersAreServed() {
    const RunReport report = pool().Run(kPolite, {Job("new", "return 1").Tenant(kPolite)});
    EXPECT_TRUE(IsOk(report.At("new"), 1));
  }

  std::size_t most_descriptors_ = 0;
};

TEST_F(SilentPeers, AThousandOfThemHoldNobodyUpAndAreGoneAfterTheHandshakesTime) {
  const MetricsPage before = pool().Page();
  const std::size_t descriptors = DescriptorsOf(pool().broker());
  std::vector<Fd> crowd = Come(kCrowd);
  EXPECT_TRUE(PoliteGoesOn());
  ExpectNewcomersAreServed();
  for (const Fd& one : crowd) EXPECT_TRUE(HangsUp(one, Millis(20'000)));
  EXPECT_TRUE(IsRefused(before, "unfinished", kCrowd));
  EXPECT_LE(most_descriptors_, descriptors + kCrowd + 50);
  EXPECT_LE(DescriptorsOf(pool().broker()), descriptors + 20);
}

TEST_F(SilentPeers, OfWhomThereAreMoreThanAreBorneTheOldestGoAtOnce) {
  constexpr std::size_t kBorne = 50;
  Begin({"--max-handshakes", std::to_string(kBorne)});
  const MetricsPage before = pool().Page();
  const std::size_t descriptors = DescriptorsOf(pool().broker());
  std::vector<Fd> crowd = Come(kCrowd);
  EXPECT_TRUE(IsRefused(before, "too_many", kCrowd - 2 * kBorne));
  EXPECT_TRUE(PoliteGoesOn());
  ExpectNewcomersAreServed();
  EXPECT_LE(DescriptorsOf(pool().broker()), descriptors + 2 * kBorne + 20);
}

TEST_F(SilentPeers, ThatStopInTheMiddleOfTheirHandshakeAreTheSame) {
  const MetricsPage before = pool().Page();
  const std::string greeting = Greeting("CURVE");
  const std::string hello = "\x04\xC8\x05HELLO\x01" + std::string(1, '\0') + std::string(30, 'x');
  std::vector<Fd> crowd = Come(kCrowd / 4, greeting.substr(0, 11));
  for (const std::string& words : {greeting, greeting + hello, greeting + "\x04\xC8"}) {
    for (Fd& one : Come(kCrowd / 4, words)) crowd.push_back(std::move(one));
  }
  EXPECT_TRUE(PoliteGoesOn());
  ExpectNewcomersAreServed();
  for (const Fd& one : crowd) EXPECT_TRUE(HangsUp(one, Millis(20'000)));
  EXPECT_TRUE(IsRefused(before, "unfinished", kCrowd));
}

TEST_F(SilentPeers, ThatComeAndGoAllTheTimeLeaveNothingBehind) {
  const std::size_t descriptors = DescriptorsOf(pool().broker());
  for (int round = 0; round < 20; ++round) (void)Come(kCrowd / 10, Greeting("CURVE"));
  EXPECT_TRUE(PoliteGoesOn());
  const MetricsPage page =
      pool().Await([&](const MetricsPage&) { return DescriptorsOf(pool().broker()) <= descriptors + 20; });
  EXPECT_LE(DescriptorsOf(pool().broker()), descriptors + 20);
}

}  // namespace
}  // namespace skerry::testing
