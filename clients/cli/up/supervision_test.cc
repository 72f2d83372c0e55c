#include "clients/cli/up/supervision.h"

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

using Indexes = std::vector<std::size_t>;

class Supervising : public ::testing::Test {
 protected:
  void StartAll() {
    for (const std::size_t worker : up_.OnTick(now_).start) up_.OnWorkerStarted(worker, now_);
  }
  void Bring(UpState state) {
    StartAll();
    if (state == UpState::kStarting) return;
    up_.OnTrialEnded({});
    if (state == UpState::kServing) return;
    up_.OnSignal();
    if (state == UpState::kDraining) return;
    up_.OnSignal();
  }
  /// How long a worker that dies again and again waits, in ms, for each of its deaths.
  std::vector<std::int64_t> Waits(int deaths, Millis life) {
    std::vector<std::int64_t> waits;
    for (int i = 0; i < deaths; ++i) {
      now_ += life;
      up_.OnWorkerEnded(0, kKilled, now_);
      const TimePoint died = now_;
      while (up_.OnTick(now_).start.empty()) now_ += Millis(50);
      waits.push_back(std::chrono::duration_cast<Millis>(now_ - died).count());
      up_.OnWorkerStarted(0, now_);
    }
    return waits;
  }

  const ChildEnd kKilled{"was killed by signal 9", std::nullopt};
  const ChildEnd kRefused{"exited with status 2", 2};
  const ChildEnd kFailed{"exited with status 1", 1};
  const ChildEnd kDone{"exited with status 0", 0};
  TimePoint now_;
  Supervision up_{2};
};

TEST_F(Supervising, StartsEveryWorkerAtFirst) {
  EXPECT_EQ(up_.OnTick(now_).start, (Indexes{0, 1}));
  StartAll();
  EXPECT_TRUE(up_.OnTick(now_).start.empty());
}

TEST_F(Supervising, StartsADeadWorkerAgainAndSaysSo) {
  Bring(UpState::kServing);
  const UpActions actions = up_.OnWorkerEnded(1, kKilled, now_);
  EXPECT_EQ(actions.say,
            std::vector<std::string>{"worker 2 was killed by signal 9; it is started again in 0.25 s"});
  EXPECT_FALSE(actions.exit);
  EXPECT_TRUE(up_.OnTick(now_ + Millis(249)).start.empty());
  EXPECT_EQ(up_.OnTick(now_ + Millis(250)).start, Indexes{1});
}

TEST_F(Supervising, WaitsLongerWithEachDeathUpToHalfAMinute) {
  Bring(UpState::kServing);
  EXPECT_EQ(Waits(10, Millis(100)),
            (std::vector<std::int64_t>{250, 500, 1000, 2000, 4000, 8000, 16'000, 30'000, 30'000, 30'000}));
}

TEST_F(Supervising, ForgetsDeathsAfterASoundLife) {
  Bring(UpState::kServing);
  Waits(5, Millis(100));
  EXPECT_EQ(Waits(2, Millis(60'000)), (std::vector<std::int64_t>{250, 250}));
}

TEST_F(Supervising, AWorkerThatEndsByItselfIsStartedAgainToo) {
  Bring(UpState::kServing);
  EXPECT_EQ(up_.OnWorkerEnded(0, kDone, now_).say.size(), 1u);
  EXPECT_EQ(up_.OnTick(now_ + Millis(250)).start, Indexes{0});
}

TEST_F(Supervising, AWorkerThatRefusesItsConfigurationEndsEverything) {
  for (const UpState state : {UpState::kStarting, UpState::kServing}) {
    up_ = Supervision(2);
    Bring(state);
    EXPECT_EQ(up_.OnWorkerEnded(0, kRefused, now_).exit, 2);
    EXPECT_EQ(up_.state(), UpState::kEnded);
  }
}

TEST_F(Supervising, AWorkerThatFailsAtItsVeryFirstStartEndsEverything) {
  StartAll();
  const UpActions actions = up_.OnWorkerEnded(1, kFailed, now_);
  EXPECT_EQ(actions.exit, 69);
  EXPECT_EQ(actions.say.at(0),
            "worker 2 exited with status 1 at its first start, as it would again: why is above");
}

TEST_F(Supervising, AWorkersProgramThatCannotBeRunEndsEverything) {
  up_.OnTick(now_);
  EXPECT_EQ(up_.OnWorkerEnded(0, {"cannot run x: no such file", kCannotBeRun}, now_).exit, 69);
}

TEST_F(Supervising, ASignalAtTheFirstStartAndAFailureAtALaterOneAreNotTakenForPermanent) {
  StartAll();
  EXPECT_FALSE(up_.OnWorkerEnded(0, kKilled, now_).exit);
  EXPECT_EQ(up_.OnTick(now_ + Millis(250)).start, Indexes{0});
  up_.OnWorkerStarted(0, now_ + Millis(250));
  EXPECT_FALSE(up_.OnWorkerEnded(0, kFailed, now_ + Millis(300)).exit);
}

TEST_F(Supervising, AFirstStartThatFailsWhileOthersServeIsTriedAgain) {
  Bring(UpState::kServing);
  EXPECT_FALSE(up_.OnWorkerEnded(1, kFailed, now_).exit);
  EXPECT_EQ(up_.OnTick(now_ + Millis(250)).start, Indexes{1});
}

TEST_F(Supervising, ATrialJobThatFailedIsNoReadiness) {
  StartAll();
  const UpActions actions = up_.OnTrialEnded({Code::kOverloaded, "no worker has 256 MiB for a job"});
  EXPECT_EQ(actions.exit, 69);
  EXPECT_EQ(up_.state(), UpState::kEnded);
  EXPECT_EQ(actions.say.at(0),
            "not READY: the trial job, one with the default limits, ended with OVERLOADED (no worker has 256 "
            "MiB for a job); raise --memory-mb, or lower what a job gets by --ceiling memoryMb=N");
  up_ = Supervision(1);
  EXPECT_NE(up_.OnTrialEnded({Code::kCrash, "it died"}).say.at(0).find("skerry doctor"), std::string::npos);
}

TEST_F(Supervising, ABrokersDeathEndsEverythingInEveryState) {
  for (const UpState state : {UpState::kStarting, UpState::kServing, UpState::kDraining}) {
    up_ = Supervision(2);
    Bring(state);
    const UpActions actions = up_.OnBrokerEnded(kKilled);
    EXPECT_EQ(actions.exit, 69);
    EXPECT_EQ(actions.say.at(0), "the broker was killed by signal 9; everything ends");
  }
  up_ = Supervision(2);
  EXPECT_EQ(up_.OnBrokerEnded(kRefused).exit, 2);
}

TEST_F(Supervising, TheFirstSignalDrainsAndTheLastWorkerEndsIt) {
  for (const UpState state : {UpState::kStarting, UpState::kServing}) {
    up_ = Supervision(2);
    Bring(state);
    const UpActions actions = up_.OnSignal();
    EXPECT_TRUE(actions.drain);
    EXPECT_FALSE(actions.exit);
    EXPECT_FALSE(up_.OnWorkerEnded(1, kDone, now_).exit);
    EXPECT_TRUE(up_.OnTick(now_ + Millis(60'000)).start.empty()) << "a drained worker was started again";
    EXPECT_EQ(up_.OnWorkerEnded(0, kDone, now_).exit, 0);
  }
}

TEST_F(Supervising, TheSecondSignalEndsAtOnce) {
  Bring(UpState::kDraining);
  EXPECT_EQ(up_.OnSignal().exit, 130);
}

TEST_F(Supervising, ASignalWithoutAnyWorkerRunningEndsAtOnce) {
  Bring(UpState::kServing);
  up_.OnWorkerEnded(0, kKilled, now_);
  up_.OnWorkerEnded(1, kKilled, now_);
  EXPECT_EQ(up_.OnSignal().exit, 0);
}

TEST_F(Supervising, OnceEndedNothingMoreIsDone) {
  Bring(UpState::kEnded);
  up_.OnTrialEnded({});
  EXPECT_EQ(up_.state(), UpState::kEnded);
  EXPECT_FALSE(up_.OnWorkerEnded(0, kKilled, now_).exit);
  EXPECT_FALSE(up_.OnBrokerEnded(kKilled).exit);
  EXPECT_FALSE(up_.OnSignal().exit);
  EXPECT_TRUE(up_.OnTick(now_ + Millis(60'000)).start.empty());
}

TEST_F(Supervising, ReadyDoesNotCallADrainOff) {
  Bring(UpState::kDraining);
  up_.OnTrialEnded({});
  EXPECT_EQ(up_.state(), UpState::kDraining);
}

}  // namespace
}  // namespace skerry::cli
