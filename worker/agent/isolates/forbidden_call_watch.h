// Hears of forbidden system calls (seccomp user notification) and sees to it that whoever makes one dies of
// it.
//
// The caller waits inside the kernel until it is killed; nobody is let go on but a cell with a program in it
// that forks, once for each time that it was asked to. A report comes from a process that some cell cloned,
// perhaps long after that cell has gone, so reports are kept open until the last such process has.
//
// Threads: the event loop's. Ownership: owns the reports; handlers must outlive their Registration.
// Errors: none; a process that is gone by now needs no killing.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "worker/agent/cells/cell.h"
#include "worker/agent/event_loop.h"

namespace skerry::agent {

class ForbiddenCallWatch {
 public:
  /// `call`: the system call's name.
  using Handler = std::function<void(const std::string& call)>;

  /// Handlers of processes that run jobs; destroying it ends it.
  class Registration {
   public:
    Registration() = default;
    ~Registration() { End(); }
    Registration(Registration&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), pid_(other.pid_) {}
    Registration& operator=(Registration&& other) noexcept;
    void End();

   private:
    friend class ForbiddenCallWatch;
    Registration(ForbiddenCallWatch* owner, pid_t pid) : owner_(owner), pid_(pid) {}
    ForbiddenCallWatch* owner_ = nullptr;
    pid_t pid_ = -1;
  };

  explicit ForbiddenCallWatch(EventLoop& loop) : loop_(loop) {}

  void Add(std::unique_ptr<ForbiddenCalls> reports);
  /// The handler kills `pid`. Processes without one (cells, spares) are killed here.
  [[nodiscard]] Registration Register(pid_t pid, Handler handler);
  /// Of a cell, which may fork where `take_permit` says so; the handler kills it for anything else.
  [[nodiscard]] Registration RegisterCell(pid_t pid, std::function<bool()> take_permit, Handler handler);

 private:
  struct Source {
    std::unique_ptr<ForbiddenCalls> reports;
    EventLoop::Watch watch;  // after the reports: destroyed before their descriptor closes
  };
  using Sources = std::list<Source>;

  struct Known {
    Handler handle;
    std::function<bool()> take_permit;  // empty: it may never fork
  };

  void OnReadable(Sources::iterator source);
  void Handle(ForbiddenCalls& reports, const ForbiddenCall& call);

  EventLoop& loop_;
  Sources sources_;
  std::unordered_map<pid_t, Known> handlers_;
};

}  // namespace skerry::agent
