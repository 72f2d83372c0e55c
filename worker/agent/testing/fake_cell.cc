#include "worker/agent/testing/fake_cell.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "common/wire/stream.h"
#include "worker/agent/process.h"
#include "worker/agent/testing/fake_isolate.h"

namespace skerry::agent {
namespace {

void DieIdle(int) {
  _exit(7);
}
void StayDeaf(int) {
  for (;;) ::pause();
}
void SpeakFirst(int socket) {
  const std::string bytes = wire::StreamBytes(wire::Event{}, {"too early"});
  if (::write(socket, bytes.data(), bytes.size()) < 0) _exit(1);
  for (;;) ::pause();
}

class FakeCell final : public Cell {
 public:
  explicit FakeCell(FakeCellPlan& plan) : plan_(plan), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    ++plan_.started;
    ++plan_.alive;
  }
  ~FakeCell() override {
    for (const ForkedProcess& process : ready_) {
      KillProcess(process.pidfd.get());
      ReapBlocking(process.pidfd.get());
    }
    --plan_.alive;
  }

  int control_fd() const override { return wake_.get(); }
  pid_t pid() const override { return ::getpid(); }
  V8Build v8() const override { return {"1.2.3-fake", "--fake"}; }
  SandboxLevel sandbox_level() const override { return SandboxLevel::kSeccomp; }

  Status RequestFork() override {
    if (plan_.requests_refused > 0) {
      --plan_.requests_refused;
      return Fail(ErrorKind::kExhausted, "enough on their way already");
    }
    ++plan_.forks;
    switch (plan_.fork) {
      case FakeCellPlan::Fork::kNever:
        return {};
      case FakeCellPlan::Fork::kKillsCell:
        dead_ = true;
        break;
      case FakeCellPlan::Fork::kGood:
        ready_.push_back(ForkForTest([](int socket) { PlayIsolate(socket); }));
        break;
      case FakeCellPlan::Fork::kDiesIdle:
        ready_.push_back(ForkForTest(DieIdle));
        break;
      case FakeCellPlan::Fork::kDeaf:
        ready_.push_back(ForkForTest(StayDeaf));
        break;
      case FakeCellPlan::Fork::kSpeaksFirst:
        ready_.push_back(ForkForTest(SpeakFirst));
        break;
    }
    ::eventfd_write(wake_.get(), 1);
    return {};
  }

  Result<std::optional<Forked>> OnReadable() override {
    if (dead_) return Fail(ErrorKind::kUnavailable, "the fake cell is dead");
    if (ready_.empty()) {
      eventfd_t count = 0;
      ::eventfd_read(wake_.get(), &count);
      return std::optional<Forked>();
    }
    std::optional<Forked> process(std::move(ready_.front()));
    ready_.pop_front();
    return process;
  }

 private:
  FakeCellPlan& plan_;
  Fd wake_;
  std::deque<ForkedProcess> ready_;
  bool dead_ = false;
};

}  // namespace

CellFactory FakeCells(FakeCellPlan& plan) {
  return [&plan]() -> Result<std::unique_ptr<Cell>> {
    std::this_thread::sleep_for(std::chrono::milliseconds(plan.start_delay_ms));
    while (plan.starts_held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!plan.starts) return Fail(ErrorKind::kUnavailable, "the fake cell does not start");
    return std::unique_ptr<Cell>(new FakeCell(plan));
  };
}

ForkedProcess ForkForTest(void (*body)(int socket)) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) std::abort();
  const pid_t pid = ::fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(pair[1], 3);
    ::close_range(4, ~0u, 0);
    body(3);
    _exit(0);
  }
  ::close(pair[1]);
  ::fcntl(pair[0], F_SETFL, O_NONBLOCK);
  ForkedProcess process;
  process.pid = pid;
  process.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  process.socket = Fd(pair[0]);
  return process;
}

}  // namespace skerry::agent
