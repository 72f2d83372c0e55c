// A worker with a good key that claims what others run: finals, events, host calls and code for leases that
// it was not given. It is cut off at its first lie; whose job it is gets the truth, once.
#include <thread>

#include "tests/attack/attack.h"

namespace skerry::testing {
namespace {

using broker::RawPeer;

class LyingWorker : public Attack {
 protected:
  void SetUp() override {
    Begin();
    link_ = pool().keys().Add(keys::Role::kWorker, "liar");
    pool().Reload();
  }
  /// Comes as a worker with room for one job.
  RawPeer Come(const std::string& session, const std::vector<LeaseId>& leases = {}) {
    RawPeer peer = WorkerPeer(*link_);
    wire::Hello hello;
    hello.role = wire::Role::kWorker;
    hello.session = SessionId(session);
    hello.slots = 1;
    hello.memory_mb = 1'024;
    hello.leases = leases;
    peer.Put(hello);
    EXPECT_TRUE(peer.Await<wire::Welcome>());
    return peer;
  }
  /// The lease that it is given itself, which tells it what others' are like: they are counted.
  LeaseId OwnLease(RawPeer& liar) {
    const auto dispatch = liar.Await<wire::Dispatch>();
    EXPECT_TRUE(dispatch);
    return dispatch ? dispatch->lease : LeaseId();
  }
  double CutOff() { return pool().Page().Value("skerry_workers_cut_off_total"); }
  ::testing::AssertionResult IsCutOff(double before) {
    const char* kCutOff = "skerry_workers_cut_off_total";
    const auto page = pool().Await([&](const MetricsPage& at) { return at.Value(kCutOff) > before; });
    return page.Value(kCutOff) > before ? ::testing::AssertionSuccess()
                                        : ::testing::AssertionFailure() << "it was not cut off";
  }

  std::optional<keys::LinkKeys> link_;
};

TEST_F(LyingWorker, ThatEndsOthersJobsIsCutOffAndItsOwnJobRunsElsewhere) {
  const double before = CutOff();
  RawPeer liar = Come("liar");
  const std::uint64_t own = OwnLease(liar).value();
  for (std::uint64_t other = own - 4; other <= own + 4; ++other) {
    if (other == own) continue;
    wire::Final final;
    final.lease = LeaseId(other);
    final.ok = true;
    liar.Put(final, {"\"forged\""});
  }
  EXPECT_TRUE(IsCutOff(before));
  // Attack::TearDown: every job of the polite tenant is 42, the one that the liar was given too.
}

TEST_F(LyingWorker, ThatSpeaksForOthersJobsIsCutOff) {
  const double before = CutOff();
  RawPeer liar = Come("says");
  wire::Event event;
  event.lease = LeaseId(OwnLease(liar).value() + 1'000);
  liar.Put(event, {"forged"});
  EXPECT_TRUE(IsCutOff(before));
}

TEST_F(LyingWorker, ThatAsksOthersClientsIsCutOff) {
  const double before = CutOff();
  RawPeer liar = Come("asks");
  liar.Put(wire::Call{JobId(), LeaseId(OwnLease(liar).value() + 1'000), 1, 1}, {"who", "{}"});
  EXPECT_TRUE(IsCutOff(before));
}

TEST_F(LyingWorker, ThatClaimsAllLeasesInItsHelloIsGivenNone) {
  RawPeer first = Come("first");
  const std::uint64_t own = OwnLease(first).value();
  std::vector<LeaseId> claimed;
  for (std::uint64_t lease = own - 50; lease < own + 50; ++lease) claimed.emplace_back(lease);
  const double before = CutOff();
  RawPeer second = Come("second", claimed);
  wire::Final final;
  final.lease = LeaseId(own);
  final.ok = true;
  second.Put(final, {"\"forged\""});
  EXPECT_TRUE(IsCutOff(before)) << "what the first was given is not the second's, though they have one key";
  first.Put(wire::Bye{});
}

TEST_F(LyingWorker, ThatTakesTheNameOfAnotherIsAnother) {
  // The honest worker's session, which only the broker's log tells.
  const std::string log = ReadFile(pool().pool().broker_log());
  const std::string kOwner = "worker=rack/";
  const std::size_t at = log.find(kOwner);
  ASSERT_NE(at, std::string::npos) << log;
  const std::string session = log.substr(at + kOwner.size(), log.find(' ', at) - at - kOwner.size());
  RawPeer liar = WorkerPeer(*link_);
  wire::Hello hello;
  hello.role = wire::Role::kWorker;
  hello.session = SessionId(session);
  hello.memory_mb = 1'024;
  liar.Put(hello);
  const auto welcome = liar.Await<wire::Welcome>();
  ASSERT_TRUE(welcome);
  EXPECT_FALSE(welcome->resumed);
  EXPECT_TRUE(PoliteGoesOn()) << "the honest one is what it was";
  EXPECT_EQ(pool().Page().Value("skerry_workers"), 2);
  liar.Put(wire::Bye{});
}

}  // namespace
}  // namespace skerry::testing
