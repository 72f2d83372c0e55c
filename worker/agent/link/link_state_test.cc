#include "worker/agent/link/link_state.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

using Action = LinkState::Action;
const TimePoint kBegin{Millis(100'000)};

TEST(LinkState, PingsOncePerHeartbeatWhenConnectedAndNotBefore) {
  LinkState link(kBegin);
  EXPECT_EQ(link.Tick(kBegin + Millis(1'500)), Action::kNothing);
  link.OnWelcome(kBegin, Millis(200));
  EXPECT_EQ(link.Tick(kBegin + Millis(200)), Action::kPing);
  EXPECT_EQ(link.Tick(kBegin + Millis(399)), Action::kNothing);
  EXPECT_EQ(link.Tick(kBegin + Millis(400)), Action::kPing);
}

TEST(LinkState, OpensAnewAfterASilenceAndGivesTheNewConnectionItsTime) {
  LinkState link(kBegin);
  link.OnWelcome(kBegin, Millis(1'000));
  EXPECT_NE(link.Tick(kBegin + Millis(9'999)), Action::kReopen);
  EXPECT_EQ(link.Tick(kBegin + Millis(10'000)), Action::kReopen);
  link.OnReopened(kBegin + Millis(10'000));
  EXPECT_FALSE(link.connected());
  EXPECT_EQ(link.Tick(kBegin + Millis(19'999)), Action::kNothing);
  EXPECT_EQ(link.Tick(kBegin + Millis(20'000)), Action::kReopen);
}

TEST(LinkState, BelievesInABrokerThatIsHeardOf) {
  LinkState link(kBegin);
  link.OnWelcome(kBegin, Millis(1'000));
  link.OnAnything(kBegin + Millis(9'000));
  EXPECT_NE(link.Tick(kBegin + Millis(18'999)), Action::kReopen);
  EXPECT_EQ(link.Tick(kBegin + Millis(19'000)), Action::kReopen);
}

TEST(LinkState, KeepsAnAbsurdHeartbeatWithinReason) {
  LinkState link(kBegin);
  link.OnWelcome(kBegin, Millis(1));
  EXPECT_EQ(link.heartbeat(), Millis(10));
  EXPECT_EQ(link.patience(), Millis(5'000)) << "a stall is no death, however short the heartbeat";
  link.OnWelcome(kBegin, Millis(0));
  EXPECT_EQ(link.heartbeat(), Millis(10)) << "none said: as before";
}

TEST(LinkState, KnowsWhetherThereEverWasABroker) {
  LinkState link(kBegin);
  EXPECT_FALSE(link.ever_connected());
  link.OnReopened(kBegin);
  EXPECT_FALSE(link.ever_connected());
  link.OnWelcome(kBegin, Millis(100));
  link.OnReopened(kBegin);
  EXPECT_TRUE(link.ever_connected());
}

TEST(LinkState, IsCutOffOnceInASilenceOfItsLeaseHoweverOftenItIsOpenedAnew) {
  LinkState link(kBegin);
  link.OnWelcome(kBegin, Millis(1'000), Millis(10'500));
  EXPECT_FALSE(link.TakeCutOff(kBegin + Millis(10'499)));
  link.OnReopened(kBegin + Millis(10'000));
  EXPECT_TRUE(link.TakeCutOff(kBegin + Millis(10'500)));
  EXPECT_FALSE(link.TakeCutOff(kBegin + Millis(30'000)));
  link.OnAnything(kBegin + Millis(40'000));
  EXPECT_FALSE(link.TakeCutOff(kBegin + Millis(50'499)));
  EXPECT_TRUE(link.TakeCutOff(kBegin + Millis(50'500)));
}

TEST(LinkState, IsNeverCutOffByABrokerThatNamesNoLeaseNorOnceClosed) {
  LinkState link(kBegin);
  EXPECT_FALSE(link.TakeCutOff(kBegin + Millis(1'000'000)));
  link.OnWelcome(kBegin, Millis(1'000));
  EXPECT_FALSE(link.TakeCutOff(kBegin + Millis(1'000'000)));
  link.OnWelcome(kBegin, Millis(1'000), Millis(5'000));
  link.OnClosed();
  EXPECT_FALSE(link.TakeCutOff(kBegin + Millis(1'000'000)));
}

TEST(LinkState, DoesNothingOnceClosed) {
  LinkState link(kBegin);
  link.OnWelcome(kBegin, Millis(100));
  link.OnClosed();
  EXPECT_EQ(link.Tick(kBegin + Millis(1'000'000)), Action::kNothing);
}

}  // namespace
}  // namespace skerry::agent
