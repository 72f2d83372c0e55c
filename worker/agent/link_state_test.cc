#include "worker/agent/link_state.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

using Action = LinkState::Action;
const TimePoint kStart{Millis(100'000)};

TEST(LinkState, PingsOncePerHeartbeatWhenConnectedAndNotBefore) {
  LinkState link(kStart);
  EXPECT_EQ(link.Tick(kStart + Millis(1'500)), Action::kNothing);
  link.OnWelcome(kStart, Millis(200));
  EXPECT_EQ(link.Tick(kStart + Millis(200)), Action::kPing);
  EXPECT_EQ(link.Tick(kStart + Millis(399)), Action::kNothing);
  EXPECT_EQ(link.Tick(kStart + Millis(400)), Action::kPing);
}

TEST(LinkState, OpensAnewAfterASilenceAndGivesTheNewConnectionItsTime) {
  LinkState link(kStart);
  link.OnWelcome(kStart, Millis(1'000));
  EXPECT_NE(link.Tick(kStart + Millis(9'999)), Action::kReopen);
  EXPECT_EQ(link.Tick(kStart + Millis(10'000)), Action::kReopen);
  link.OnReopened(kStart + Millis(10'000));
  EXPECT_FALSE(link.connected());
  EXPECT_EQ(link.Tick(kStart + Millis(19'999)), Action::kNothing);
  EXPECT_EQ(link.Tick(kStart + Millis(20'000)), Action::kReopen);
}

TEST(LinkState, BelievesInABrokerThatIsHeardOf) {
  LinkState link(kStart);
  link.OnWelcome(kStart, Millis(1'000));
  link.OnAnything(kStart + Millis(9'000));
  EXPECT_NE(link.Tick(kStart + Millis(18'999)), Action::kReopen);
  EXPECT_EQ(link.Tick(kStart + Millis(19'000)), Action::kReopen);
}

TEST(LinkState, KeepsAnAbsurdHeartbeatWithinReason) {
  LinkState link(kStart);
  link.OnWelcome(kStart, Millis(1));
  EXPECT_EQ(link.heartbeat(), Millis(10));
  EXPECT_EQ(link.patience(), Millis(5'000)) << "a stall is no death, however short the heartbeat";
  link.OnWelcome(kStart, Millis(0));
  EXPECT_EQ(link.heartbeat(), Millis(10)) << "none said: as before";
}

TEST(LinkState, KnowsWhetherThereEverWasABroker) {
  LinkState link(kStart);
  EXPECT_FALSE(link.ever_connected());
  link.OnReopened(kStart);
  EXPECT_FALSE(link.ever_connected());
  link.OnWelcome(kStart, Millis(100));
  link.OnReopened(kStart);
  EXPECT_TRUE(link.ever_connected());
}

TEST(LinkState, IsCutOffOnceInASilenceOfItsLeaseHoweverOftenItIsOpenedAnew) {
  LinkState link(kStart);
  link.OnWelcome(kStart, Millis(1'000), Millis(10'500));
  EXPECT_FALSE(link.TakeCutOff(kStart + Millis(10'499)));
  link.OnReopened(kStart + Millis(10'000));
  EXPECT_TRUE(link.TakeCutOff(kStart + Millis(10'500)));
  EXPECT_FALSE(link.TakeCutOff(kStart + Millis(30'000)));
  link.OnAnything(kStart + Millis(40'000));
  EXPECT_FALSE(link.TakeCutOff(kStart + Millis(50'499)));
  EXPECT_TRUE(link.TakeCutOff(kStart + Millis(50'500)));
}

TEST(LinkState, IsNeverCutOffByABrokerThatNamesNoLeaseNorOnceClosed) {
  LinkState link(kStart);
  EXPECT_FALSE(link.TakeCutOff(kStart + Millis(1'000'000)));
  link.OnWelcome(kStart, Millis(1'000));
  EXPECT_FALSE(link.TakeCutOff(kStart + Millis(1'000'000)));
  link.OnWelcome(kStart, Millis(1'000), Millis(5'000));
  link.OnClosed();
  EXPECT_FALSE(link.TakeCutOff(kStart + Millis(1'000'000)));
}

TEST(LinkState, DoesNothingOnceClosed) {
  LinkState link(kStart);
  link.OnWelcome(kStart, Millis(100));
  link.OnClosed();
  EXPECT_EQ(link.Tick(kStart + Millis(1'000'000)), Action::kNothing);
}

}  // namespace
}  // namespace skerry::agent
