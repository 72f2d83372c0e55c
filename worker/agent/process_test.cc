#include "worker/agent/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "worker/agent/isolates/isolate.h"
#include "worker/agent/testing/fake_cell.h"

namespace skerry::agent {
namespace {

void Pause(int) {
  for (;;) ::pause();
}

// Waits without a fixed sleep: the pidfd becomes readable, and TryReap succeeds.
ExitStatus Await(Isolate& isolate) {
  for (;;) {
    if (auto status = isolate.TryReap()) return *status;
    ::usleep(100);
  }
}

TEST(Process, TellsAnExitFromASignal) {
  Isolate exits(ForkForTest([](int) { _exit(7); }), 1, nullptr);
  const ExitStatus exited = Await(exits);
  EXPECT_EQ(exited.signal, 0);
  EXPECT_EQ(exited.code, 7);
  Isolate dies(ForkForTest(Pause), 1, nullptr);
  EXPECT_FALSE(dies.TryReap()) << "it lives";
  dies.Kill();
  EXPECT_EQ(Await(dies).signal, SIGKILL);
}

TEST(Process, ReportsTheCpuTimeAndThePeakMemoryOfTheDead) {
  Isolate isolate(ForkForTest([](int) {
                    constexpr std::size_t kBytes = 64u << 20;
                    auto* memory = static_cast<volatile char*>(
                        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
                    for (std::size_t i = 0; i < kBytes; i += 4096) memory[i] = 1;
                    _exit(0);
                  }),
                  1, nullptr);
  const ExitStatus status = Await(isolate);
  EXPECT_GE(status.peak_resident, Bytes::MiB(64));
  EXPECT_GT(status.cpu, Micros(0));
}

TEST(Process, ReadsMemoryAndCpuOfALivingChildAndAnErrorOfADeadOne) {
  Isolate isolate(ForkForTest(Pause), 1, nullptr);
  const auto memory = ReadMemory(isolate.pid());
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->resident, Bytes(0));
  EXPECT_GE(memory->resident, memory->anonymous);
  EXPECT_GT(memory->data, Bytes(0));
  EXPECT_TRUE(ReadCpuTime(isolate.pid()));
  const auto own = ReadPrivateMemory(isolate.pid());
  ASSERT_TRUE(own);
  EXPECT_GT(*own, Bytes(0));
  isolate.Kill();
  const pid_t pid = isolate.pid();
  Await(isolate);
  EXPECT_FALSE(ReadMemory(pid));
  EXPECT_FALSE(LimitData(pid, Bytes::MiB(1)));
}

TEST(Process, LimitsDataForGood) {
  Isolate isolate(ForkForTest(Pause), 1, nullptr);
  ASSERT_TRUE(LimitData(isolate.pid(), Bytes::MiB(100)));
  rlimit limit{};
  ASSERT_EQ(::prlimit(isolate.pid(), RLIMIT_DATA, nullptr, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, 100u << 20);
  EXPECT_EQ(limit.rlim_max, 100u << 20) << "the hard limit too: it cannot be raised back";
}

TEST(Process, LowersThePriorityByTenFromWhereItWasDownToTheLowest) {
  const int own = ::getpriority(PRIO_PROCESS, 0);
  for (const int above : {0, 4, 8, 9, 10, 19}) {
    const int before = std::min(own + above, 19);
    Isolate isolate(ForkForTest(Pause), 1, nullptr);
    const auto who = static_cast<id_t>(isolate.pid());
    ASSERT_EQ(::setpriority(PRIO_PROCESS, who, before), 0);
    LowerPriority(isolate.pid());
    EXPECT_EQ(::getpriority(PRIO_PROCESS, who), std::min(before + 10, 19));
  }
}

TEST(Process, SaysHowOneEndedAndLeavesItToBeReaped) {
  Isolate isolate(ForkForTest(Pause), 1, nullptr);
  EXPECT_FALSE(PeekExit(isolate.pidfd()));
  ::kill(isolate.pid(), SIGUSR1);
  pollfd ended{isolate.pidfd(), POLLIN, 0};
  ASSERT_EQ(::poll(&ended, 1, 10'000), 1);
  for (int i = 0; i < 2; ++i) {
    const auto status = PeekExit(isolate.pidfd());
    ASSERT_TRUE(status);
    EXPECT_EQ(status->signal, SIGUSR1);
  }
  EXPECT_TRUE(isolate.TryReap());
}

// A blocking waitid on a pidfd that asio had made non-blocking returned EAGAIN, and the child stayed a
// zombie.
TEST(Process, ReapsAnIsolateThatIsLetGoThoughItsPidfdIsNonBlocking) {
  pid_t pid = 0;
  {
    const Isolate isolate(ForkForTest(Pause), 1, nullptr);
    pid = isolate.pid();
    ASSERT_EQ(::fcntl(isolate.pidfd(), F_SETFL, O_NONBLOCK), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH) << "killed and reaped";
}

}  // namespace
}  // namespace skerry::agent
