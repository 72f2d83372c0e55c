#include "worker/agent/isolates/forbidden_call_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <deque>
#include <vector>

#include "common/logging.h"
#include "worker/agent/isolates/isolate.h"
#include "worker/agent/testing/fake_cell.h"
#include "worker/agent/testing/loop_runner.h"

namespace skerry::agent {
namespace {

/// What the reports share with the test that plays the kernel.
struct Kernel {
  std::deque<ForbiddenCall> calls;
  std::vector<std::uint64_t> let;  // ids of forks that were let happen
};

class FakeReports final : public ForbiddenCalls {
 public:
  explicit FakeReports(Kernel& kernel) : kernel_(kernel), wake_(::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  int fd() const override { return wake_.get(); }
  std::optional<ForbiddenCall> Next() override {
    if (kernel_.calls.size() <= 1) {
      eventfd_t count = 0;
      ::eventfd_read(wake_.get(), &count);
    }
    if (kernel_.calls.empty()) return std::nullopt;
    ForbiddenCall call = kernel_.calls.front();
    kernel_.calls.pop_front();
    return call;
  }
  void LetFork(const ForbiddenCall& call) override { kernel_.let.push_back(call.id); }

 private:
  Kernel& kernel_;
  Fd wake_;
};

void Wait(int) {
  for (;;) ::pause();
}

class ForbiddenCallWatchTest : public ::testing::Test {
 protected:
  ForbiddenCallWatchTest() { (void)InitLogging("test", "off"); }
  static ForbiddenCall Fork(pid_t pid, std::uint64_t id) { return {pid, "clone", true, id}; }
  void Report(std::vector<ForbiddenCall> calls) {
    kernel_.calls.assign(calls.begin(), calls.end());
    watch_.Add(std::make_unique<FakeReports>(kernel_));
    ASSERT_TRUE(RunUntil(loop_, [&] { return kernel_.calls.empty(); }));
  }

  EventLoop loop_;
  Kernel kernel_;
  ForbiddenCallWatch watch_{loop_};
  std::vector<std::string> killed_;
  int permits_ = 0;
};

TEST_F(ForbiddenCallWatchTest, LetsACellForkAsOftenAsItWasAskedToAndNotOnceMore) {
  permits_ = 2;
  const auto cell = watch_.RegisterCell(
      7, [this] { return permits_-- > 0; }, [this](const std::string& call) { killed_.push_back(call); });
  Report({Fork(7, 1), Fork(7, 2)});
  EXPECT_EQ(kernel_.let, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(killed_.empty());
  Report({Fork(7, 3)});
  EXPECT_EQ(kernel_.let.size(), 2u);
  EXPECT_EQ(killed_, std::vector<std::string>{"clone"});
}

TEST_F(ForbiddenCallWatchTest, LetsNothingButAForkHappenAndNobodyElseFork) {
  permits_ = 9;
  const auto permit = [this] { return permits_-- > 0; };
  const auto handler = [this](const std::string& call) { killed_.push_back(call); };
  const auto cell = watch_.RegisterCell(7, permit, handler);
  const auto job = watch_.Register(8, handler);
  // Of a child that nobody has registered: it is killed by its pid.
  Isolate spare(ForkForTest(Wait), 1, nullptr);
  Report({{7, "socket", false, 1}, Fork(8, 2), Fork(spare.pid(), 3)});
  EXPECT_TRUE(kernel_.let.empty());
  EXPECT_EQ(permits_, 9);
  EXPECT_EQ(killed_, (std::vector<std::string>{"socket", "clone"}));
  std::optional<ExitStatus> status;
  ASSERT_TRUE(RunUntil(loop_, [&] { return (status = spare.TryReap()).has_value(); }));
  EXPECT_EQ(status->signal, SIGKILL);
}

TEST_F(ForbiddenCallWatchTest, APermitEndsWithItsRegistration) {
  permits_ = 9;
  Isolate process(ForkForTest(Wait), 1, nullptr);
  {
    const auto cell = watch_.RegisterCell(
        process.pid(), [this] { return permits_-- > 0; }, nullptr);
  }
  Report({Fork(process.pid(), 1)});
  EXPECT_TRUE(kernel_.let.empty());
  ASSERT_TRUE(RunUntil(loop_, [&] { return process.TryReap().has_value(); }));
}

}  // namespace
}  // namespace skerry::agent
