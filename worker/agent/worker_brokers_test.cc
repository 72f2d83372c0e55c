// One worker and several brokers, played by the test's thread.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "common/logging.h"
#include "worker/agent/link/broker_link_fake_broker.h"
#include "worker/agent/testing/fake_cell.h"
#include "worker/agent/worker.h"

namespace skerry::agent {
namespace {

class SeveralBrokers : public ::testing::Test {
 protected:
  SeveralBrokers() {
    (void)InitLogging("test", "off");
    options_.brokers = {first_.url(), second_.url()};
    options_.isolates = 4;
    options_.spares = 1;
    options_.memory_mb = 2048;
    options_.id = "w1";
    options_.max_job_memory_mb = 64;
  }

  int Serve(const std::function<void()>& script) {
    EventLoop loop;
    Worker worker(loop, options_, FakeCells(plan_));
    std::thread brokers(script);
    const int status = worker.Run();
    brokers.join();
    return status;
  }
  static void Terminate() { ::kill(::getpid(), SIGTERM); }
  /// Both read what comes until the first may use so many slots and the second so many.
  bool Shared(std::uint64_t first, std::uint64_t second) {
    const TimePoint end = SteadyClock::now() + Millis(20'000);
    while (SteadyClock::now() < end) {
      if (first_.slots == first && second_.slots == second) return true;
      EXPECT_LE(first_.slots + second_.slots, 2 * options_.isolates);
      first_.Answer(Millis(2));
      second_.Answer(Millis(2));
    }
    ADD_FAILURE() << "shares are " << first_.slots << " and " << second_.slots;
    return false;
  }
  static void Run(FakeBroker& broker, std::uint64_t lease) {
    broker.Dispatch(lease, "ok 1", {{"memoryMb", 64}});
  }

  FakeBroker first_;
  FakeBroker second_;
  FakeCellPlan plan_;
  WorkerOptions options_;
};

TEST_F(SeveralBrokers, WhoseLargestJobsDoNotFitBesideEachOtherAreWarnedOf) {
  options_.max_job_memory_mb = 256;
  const auto log_with = [&](std::uint64_t jobs_mb) {
    options_.memory_mb = jobs_mb + 2 * IsolateManager::kCellMb + options_.spares * IsolateManager::kSpareMb;
    EXPECT_TRUE(InitLogging("test", "warn"));
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(Serve([&] {
                const bool greeted = first_.Greet() && second_.Greet();
                EXPECT_TRUE(greeted);
                Terminate();
                first_.Next<wire::Drain>();
                second_.Next<wire::Drain>();
              }),
              0);
    EXPECT_TRUE(InitLogging("test", "off"));
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(log_with(2 * 256).find("brokers take turns here"), std::string::npos);
  const std::string log = log_with(2 * 256 - 1);
  EXPECT_NE(log.find("brokers take turns here"), std::string::npos) << log;
  EXPECT_NE(log.find("brokers=2 jobsMb=511 wantedMb=512 maxJobMemoryMb=256"), std::string::npos) << log;
}

TEST_F(SeveralBrokers, ShareTheSlotsAndHaveLeasesOfTheirOwnNumbers) {
  EXPECT_EQ(Serve([&] {
              const auto to_first = first_.Greet();
              const auto to_second = second_.Greet();
              ASSERT_TRUE(to_first && to_second);
              EXPECT_EQ(to_first->slots, 0u);
              EXPECT_GE(to_first->memory_mb, 512u);  // what a job can ask for
              EXPECT_NE(to_first->session, to_second->session);
              ASSERT_TRUE(Shared(2, 2));
              first_.Dispatch(7, "sleep 50\nok 1", {{"memoryMb", 64}});
              second_.Dispatch(7, "ok 2", {{"memoryMb", 64}});
              ASSERT_TRUE(second_.Next<wire::Final>());
              EXPECT_EQ(second_.payloads.at(0), "2");
              ASSERT_TRUE(first_.Next<wire::Final>());
              EXPECT_EQ(first_.payloads.at(0), "1");
              Terminate();
              first_.Next<wire::Drain>();
              second_.Next<wire::Drain>();
              first_.Next<wire::Bye>();
              second_.Next<wire::Bye>();
            }),
            0);
}

TEST_F(SeveralBrokers, TheBusyOneGetsWhatTheOtherLeavesUnused) {
  Serve([&] {
    first_.Greet();
    second_.Greet();
    ASSERT_TRUE(Shared(2, 2));
    std::uint64_t lease = 0;
    // Two at a time: all that it may. The other answers the PING that frees its slot.
    while (second_.slots != 3 && lease < 10'000) {
      Run(second_, ++lease);
      Run(second_, ++lease);
      ASSERT_TRUE(second_.Next<wire::Final>());
      ASSERT_TRUE(second_.Next<wire::Final>());
      first_.Answer(Millis(1));
    }
    EXPECT_EQ(second_.slots, 3u);
    EXPECT_EQ(first_.slots, 1u);
    Terminate();
    first_.Next<wire::Bye>();
    second_.Next<wire::Bye>();
  });
}

TEST_F(SeveralBrokers, OneThatForgotItsLeasesCostsTheOtherNone) {
  Serve([&] {
    first_.Greet();
    second_.Greet();
    ASSERT_TRUE(Shared(2, 2));
    first_.Dispatch(1, "sleep 60000\nok 1", {{"memoryMb", 64}});
    second_.Dispatch(1, "sleep 500\nok 2", {{"memoryMb", 64}});
    // It takes the job before it is told to begin anew.
    first_.Answer(Millis(100));
    first_.Send(wire::Bye{});
    first_.Greet();  // kForgotten
    ASSERT_TRUE(second_.Next<wire::Final>());
    EXPECT_EQ(second_.payloads.at(0), "2");
    Terminate();
    first_.Next<wire::Bye>();
    second_.Next<wire::Bye>();
  });
}

TEST_F(SeveralBrokers, OneThatRefusesIsNoReasonToLeaveTheOther) {
  EXPECT_EQ(Serve([&] {
              ASSERT_TRUE(first_.Next<wire::Hello>());
              first_.Send(wire::Refuse{"not you"});
              second_.Greet();
              ASSERT_TRUE(Shared(0, 4));
              Run(second_, 1);
              ASSERT_TRUE(second_.Next<wire::Final>());
              second_.Send(wire::Refuse{"nor you"});
            }),
            1);
}

TEST_F(SeveralBrokers, AFileThatNamesAnotherBrokerMovesTheWorkerThereOnceItsJobsAreDone) {
  const auto path = std::filesystem::temp_directory_path() / ("skerry-brokers-" + std::to_string(::getpid()));
  std::ofstream(path) << first_.url() << "\n";
  options_.brokers = {"file:" + path.string()};
  EXPECT_EQ(Serve([&] {
              const auto hello = first_.Greet();
              ASSERT_TRUE(hello);
              EXPECT_EQ(hello->slots, 4u);  // the only one there is
              first_.Dispatch(1, "call m 7\necho", {{"memoryMb", 64}});
              ASSERT_TRUE(first_.Next<wire::Call>());
              std::ofstream(path) << second_.url() << "\n";
              ASSERT_TRUE(first_.Next<wire::Drain>(Millis(20'000)));
              wire::Answer answer;  // only now can it end
              answer.lease = LeaseId(1);
              answer.call = 1;
              first_.Send(answer, {"8"});
              ASSERT_TRUE(first_.Next<wire::Final>());
              ASSERT_TRUE(first_.Next<wire::Bye>());
              second_.Greet();
              ASSERT_TRUE(Shared(0, 4));
              Run(second_, 1);
              ASSERT_TRUE(second_.Next<wire::Final>());
              Terminate();
              second_.Next<wire::Bye>();
            }),
            0);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace skerry::agent
