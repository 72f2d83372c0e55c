#include "worker/agent/testing/fake_cell.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
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

void* TouchPrivate(std::size_t bytes) {
  char* memory =
      static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) _exit(98);
  for (std::size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
  return memory;
}
ForkedProcess ForkWithState() {
  void* const state = TouchPrivate(kFakeStateBytes);
  ForkedProcess process = ForkForTest([](int socket) { PlayIsolate(socket); });
  ::munmap(state, kFakeStateBytes);
  return process;
}

// The part of the child that is a derived cell: one letter says how its recipe went.
void Say(int socket, char letter) {
  if (::write(socket, &letter, 1) != 1) _exit(1);
  for (;;) ::pause();
}
void (*BodyOf(FakeCellPlan::Derived derived))(int) {
  using Derived = FakeCellPlan::Derived;
  switch (derived) {
    case Derived::kUnkeepable:
      return [](int socket) { Say(socket, 'U'); };
    case Derived::kHangs:
      return StayDeaf;
    case Derived::kSpins:
      return [](int) {
        for (;;) asm volatile("");
      };
    case Derived::kGrows:
      return [](int) {
        for (;;) TouchPrivate(std::size_t{16} << 20);
      };
    case Derived::kDies:
      return DieIdle;
    case Derived::kKilled:
      return [](int) { ::raise(SIGKILL); };
    default:
      return [](int socket) { Say(socket, 'R'); };
  }
}

/// What both kinds of cells do: hand out what was asked for, when they are woken for it.
class FakeForker : public Cell {
 public:
  explicit FakeForker(FakeCellPlan& plan) : plan_(plan), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~FakeForker() override {
    for (const Forked& forked : ready_) {
      const auto* process = std::get_if<ForkedProcess>(&forked);
      if (process == nullptr) continue;
      KillProcess(process->pidfd.get());
      ReapBlocking(process->pidfd.get());
    }
  }

  bool KeepsPrograms() const override { return plan_.keeps_programs; }
  V8Build v8() const override { return {"1.2.3-fake", "--fake"}; }
  SandboxLevel sandbox_level() const override { return SandboxLevel::kSeccomp; }
  Status RequestCell(std::shared_ptr<const cell::CellRecipe> recipe) override;
  Result<std::optional<Forked>> OnReadable() override {
    if (dead_) return Fail(ErrorKind::kUnavailable, "the fake cell is dead");
    if (ready_.empty()) {
      eventfd_t count = 0;
      ::eventfd_read(wake_.get(), &count);
      return std::optional<Forked>();
    }
    Result<std::optional<Forked>> forked;
    forked->emplace(std::move(ready_.front()));
    ready_.pop_front();
    return forked;
  }

 protected:
  Status Fork(FakeCellPlan::Fork fork) {
    if (plan_.requests_refused > 0) {
      --plan_.requests_refused;
      return Fail(ErrorKind::kExhausted, "enough on their way already");
    }
    if (stuck_) return {};  // it would come behind what never comes
    switch (fork) {
      case FakeCellPlan::Fork::kNever:
        return {};
      case FakeCellPlan::Fork::kKillsCell:
        dead_ = true;
        Die();
        break;
      case FakeCellPlan::Fork::kGood:
        ready_.push_back(ForkForTest([](int socket) { PlayIsolate(socket); }));
        break;
      case FakeCellPlan::Fork::kHasState:
        ready_.push_back(ForkWithState());
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
  int wake_fd() const { return wake_.get(); }
  virtual void Die() {}

  FakeCellPlan& plan_;

 private:
  Fd wake_;
  std::deque<Forked> ready_;
  bool dead_ = false;
  bool stuck_ = false;
};

class FakeCell final : public FakeForker {
 public:
  explicit FakeCell(FakeCellPlan& plan) : FakeForker(plan) {
    ++plan_.started;
    ++plan_.alive;
  }
  ~FakeCell() override { --plan_.alive; }

  int control_fd() const override { return wake_fd(); }
  pid_t pid() const override { return ::getpid(); }
  Status RequestFork() override {
    auto status = Fork(plan_.fork);
    if (status) ++plan_.forks;
    return status;
  }
};

class FakeDerivedCell final : public FakeForker {
 public:
  FakeDerivedCell(FakeCellPlan& plan, FakeCellPlan::Derived derived)
      : FakeForker(plan), child_(ForkForTest(BodyOf(derived))), both_(::epoll_create1(EPOLL_CLOEXEC)) {
    ++plan_.derived_alive;
    for (const int fd : {wake_fd(), child_.socket.get()}) {
      epoll_event event{};
      event.events = EPOLLIN;
      if (::epoll_ctl(both_.get(), EPOLL_CTL_ADD, fd, &event) != 0) std::abort();
    }
  }
  ~FakeDerivedCell() override {
    KillProcess(child_.pidfd.get());
    ReapBlocking(child_.pidfd.get());
    --plan_.derived_alive;
  }

  int control_fd() const override { return both_.get(); }
  pid_t pid() const override { return child_.pid; }
  int pidfd() const override { return child_.pidfd.get(); }
  bool IsReady() const override { return ready_; }
  Status RequestFork() override {
    auto status = Fork(plan_.derived_fork);
    if (status) ++plan_.derived_forks;
    return status;
  }
  Result<std::optional<Forked>> OnReadable() override {
    char letter = 0;
    const ssize_t n = ::read(child_.socket.get(), &letter, 1);
    if (n == 0) return Fail(ErrorKind::kUnavailable, "it has died");
    if (n == 1 && letter == 'U') return Fail(ErrorKind::kInvalid, "it cannot be kept");
    if (n == 1) ready_ = true;
    return FakeForker::OnReadable();
  }

 private:
  void Die() override { KillProcess(child_.pidfd.get()); }

  ForkedProcess child_;
  Fd both_;
  bool ready_ = false;
};

Status FakeForker::RequestCell(std::shared_ptr<const cell::CellRecipe> recipe) {
  const FakeCellPlan::Derived derived = recipe->program ? plan_.program : plan_.libraries;
  if (derived == FakeCellPlan::Derived::kRefused) return Fail(ErrorKind::kUnavailable, "it makes no others");
  plan_.recipes.push_back(std::move(recipe));
  stuck_ = stuck_ || derived == FakeCellPlan::Derived::kNeverComes;
  if (stuck_) return {};
  ready_.push_back(std::make_unique<FakeDerivedCell>(plan_, derived));
  ::eventfd_write(wake_.get(), 1);
  return {};
}

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
