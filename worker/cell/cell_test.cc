// Real cells: these tests start the host binary and fork it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "common/testing/proc_fs.h"
#include "common/wire/codec.h"
#include "common/wire/stream.h"
#include "worker/cell/testing/real_cell.h"

namespace skerry::cell {
namespace {

using namespace testing;
using skerry::testing::IsGoneWithin;
using skerry::testing::StatusField;

TEST(Cell, TellsItsV8Version) {
  auto cell = StartCell();
  ASSERT_TRUE(cell);
  EXPECT_TRUE(cell->v8_version().starts_with("14.")) << cell->v8_version();
}

TEST(Cell, HasOneThreadAndIsLockedDown) {
  auto cell = StartCell();
  ASSERT_TRUE(cell);
  EXPECT_EQ(StatusField(cell->pid(), "Threads"), "1");
  EXPECT_EQ(StatusField(cell->pid(), "NoNewPrivs"), "1");
  EXPECT_EQ(StatusField(cell->pid(), "Seccomp"), "2");
}

TEST(Cell, IsAskedForNoForkWhoseDescriptorWouldNotFit) {
  auto cell = StartCell();
  ASSERT_TRUE(cell);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest = dup(cell->control_fd());
  close(lowest);
  const rlimit few{static_cast<rlim_t>(lowest) + 4, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<IsolateProcess> isolates;
  Status asked = cell->RequestFork();
  for (; asked; asked = cell->RequestFork()) isolates.emplace_back();
  EXPECT_EQ(asked.error().kind, ErrorKind::kExhausted) << "no fault of the cell's: " << asked.error().message;
  EXPECT_GT(isolates.size(), 0u);
  for (IsolateProcess& isolate : isolates) {
    pollfd ready{cell->control_fd(), POLLIN, 0};
    ASSERT_EQ(poll(&ready, 1, 5000), 1);
    auto forked = cell->OnReadable();
    ASSERT_TRUE(forked) << forked.error().message;
    ASSERT_TRUE(*forked);
    isolate = std::move(std::get<IsolateProcess>(**forked));
    EXPECT_GT(isolate.pid, 0) << "there is one left to look into /proc with";
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  for (const IsolateProcess& isolate : isolates) KillAndReap(isolate);
}

TEST(Cell, StartsForAUserWhoMayHaveFewProcesses) {
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit few{4'000, 4'000};
    if (setrlimit(RLIMIT_NPROC, &few) != 0) _exit(2);
    if (geteuid() == 0 && (setresgid(65'534, 65'534, 65'534) != 0 || setresuid(65'534, 65'534, 65'534) != 0))
      _exit(2);
    if (access(CellBinary().c_str(), X_OK) != 0) _exit(3);
    _exit(StartCell() ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WEXITSTATUS(status) == 3) GTEST_SKIP() << "nobody may not run what is built here";
  EXPECT_EQ(status, 0);
}

TEST(Cell, HasNoEnvironmentAndNoDescriptorsButItsOwn) {
  if (geteuid() != 0) GTEST_SKIP() << "reading another process's descriptors needs root";
  auto cell = StartCell();
  ASSERT_TRUE(cell);
  const IsolateProcess isolate = Fork(*cell);
  const std::string folder = "/proc/" + std::to_string(isolate.pid) + "/fd/";
  char target[256];
  // The isolate may still be moving its socket to its place.
  for (int i = 0; i < 200 && readlink((folder + "4").c_str(), target, sizeof(target)) > 0; ++i) {
    std::this_thread::sleep_for(Millis(5));
  }
  for (int fd = 0; fd < 20; ++fd) {
    const ssize_t got = readlink((folder + std::to_string(fd)).c_str(), target, sizeof(target));
    const std::string_view name(target, got > 0 ? static_cast<std::size_t>(got) : 0);
    const std::string_view expected = fd <= 2 ? "/dev/null" : fd == 3 ? "socket:" : "";
    EXPECT_EQ(name.substr(0, fd == 3 ? expected.size() : name.size()), expected) << fd;
  }
  std::ifstream environment("/proc/" + std::to_string(isolate.pid) + "/environ");
  std::stringstream text;
  text << environment.rdbuf();
  EXPECT_EQ(text.str().find("PATH="), std::string::npos);
  EXPECT_EQ(text.str().find("HOME="), std::string::npos);
  KillAndReap(isolate);
}

TEST(Cell, ForksAnIsolateThatRunsAJobAndIsReapedHereWithItsUsage) {
  auto cell = StartCell();
  ASSERT_TRUE(cell);
  const IsolateProcess isolate = Fork(*cell);
  SendJob(isolate, "let s = 0; for (let i = 0; i < 1e6; i++) s += i; return input.a + input.b",
          R"({"a":19,"b":23})");
  const Outcome outcome = AwaitOutcome(isolate);
  ASSERT_TRUE(outcome.ok()) << outcome.error->message;
  EXPECT_EQ(outcome.value, "42");
  rusage usage{};
  EXPECT_EQ(Reap(isolate, &usage), 0);
  EXPECT_GT(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec, 0);
}

TEST(Cell, SurvivesAnIsolateThatIsKilledAndForksAGoodOne) {
  auto cell = StartCell();
  ASSERT_TRUE(cell);
  const IsolateProcess bad = Fork(*cell);
  SendJob(bad, "for(;;);");
  EXPECT_EQ(KillAndReap(bad), -SIGKILL);
  const IsolateProcess good = Fork(*cell);
  SendJob(good, "return 1+1");
  EXPECT_EQ(AwaitOutcome(good).value, "2");
  EXPECT_EQ(Reap(good), 0);
}

TEST(Cell, ItsEndDoesNotTouchItsIsolates) {
  auto cell = StartCell();
  ASSERT_TRUE(cell);
  IsolateProcess isolate = Fork(*cell);
  const pid_t pid = cell->pid();
  cell.reset();
  EXPECT_TRUE(IsGoneWithin(pid, Millis(2000)));
  SendJob(isolate, "return 'still here'");
  EXPECT_EQ(AwaitOutcome(isolate).value, "\"still here\"");
  EXPECT_EQ(Reap(isolate), 0);
}

TEST(Cell, ForksAHundredIsolatesAskedForAtOnce) {
  auto cell = StartCell();
  ASSERT_TRUE(cell);
  constexpr int kForks = 100;
  for (int i = 0; i < kForks; ++i) ASSERT_TRUE(cell->RequestFork()) << i;
  for (int i = 0; i < kForks; ++i) {
    pollfd ready{cell->control_fd(), POLLIN, 0};
    ASSERT_EQ(poll(&ready, 1, 5000), 1) << i;
    auto isolate = cell->OnReadable();
    ASSERT_TRUE(isolate && *isolate) << i;
    KillAndReap(std::get<IsolateProcess>(**isolate));
  }
}

TEST(Cell, ASpareLeavesWhenItsSocketIsClosed) {
  auto cell = StartCell();
  ASSERT_TRUE(cell);
  IsolateProcess isolate = Fork(*cell);
  isolate.socket.Reset();
  EXPECT_EQ(Reap(isolate), 0);
}

TEST(Cell, NothingIsLeftWhenTheWorkerIsKilled) {
  int report[2];
  ASSERT_EQ(pipe2(report, O_CLOEXEC), 0);
  const pid_t worker = fork();
  if (worker == 0) {
    auto cell = StartCell();
    IsolateProcess busy = Fork(*cell);
    IsolateProcess spare = Fork(*cell);
    SendJob(busy, "for(;;);");
    const pid_t pids[] = {cell->pid(), busy.pid, spare.pid};
    if (write(report[1], pids, sizeof(pids)) != sizeof(pids)) _exit(1);
    for (;;) pause();
  }
  close(report[1]);
  pid_t pids[3] = {};
  ASSERT_EQ(read(report[0], pids, sizeof(pids)), static_cast<ssize_t>(sizeof(pids)));
  close(report[0]);
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
  for (const pid_t pid : pids) EXPECT_TRUE(IsGoneWithin(pid, Millis(3000))) << pid;
}

TEST(Cell, AProgramThatIsNotThereIsNamedInTheError) {
  CellOptions options;
  options.program = "/nonexistent/skerry-cell";
  const auto cell = CellProcess::Start(options);
  ASSERT_FALSE(cell);
  EXPECT_NE(cell.error().message.find("cannot execute the cell program"), std::string::npos)
      << cell.error().message;
}

}  // namespace
}  // namespace skerry::cell
