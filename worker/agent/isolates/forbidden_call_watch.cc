#include "worker/agent/isolates/forbidden_call_watch.h"

#include <poll.h>
#include <signal.h>

#include <utility>

#include "common/logging.h"

namespace skerry::agent {

ForbiddenCallWatch::Registration& ForbiddenCallWatch::Registration::operator=(Registration&& other) noexcept {
  if (this != &other) {
    End();
    owner_ = std::exchange(other.owner_, nullptr);
    pid_ = other.pid_;
  }
  return *this;
}

void ForbiddenCallWatch::Registration::End() {
  if (owner_ != nullptr) owner_->handlers_.erase(pid_);
  owner_ = nullptr;
}

void ForbiddenCallWatch::Add(std::unique_ptr<ForbiddenCalls> reports) {
  const auto source = sources_.emplace(sources_.end());
  source->reports = std::move(reports);
  source->watch = loop_.OnReadable(source->reports->fd(), [this, source] { OnReadable(source); });
}

ForbiddenCallWatch::Registration ForbiddenCallWatch::Register(pid_t pid, Handler handler) {
  return RegisterCell(pid, nullptr, std::move(handler));
}

ForbiddenCallWatch::Registration ForbiddenCallWatch::RegisterCell(pid_t pid,
                                                                  std::function<bool()> take_permit,
                                                                  Handler handler) {
  handlers_[pid] = {std::move(handler), std::move(take_permit)};
  return Registration(this, pid);
}

void ForbiddenCallWatch::OnReadable(Sources::iterator source) {
  for (;;) {
    pollfd ready{source->reports->fd(), POLLIN, 0};
    if (poll(&ready, 1, 0) <= 0) return;
    // Hung up: the last process under this filter has gone.
    if ((ready.revents & POLLIN) == 0) {
      sources_.erase(source);
      return;
    }
    if (const auto call = source->reports->Next()) Handle(*source->reports, *call);
  }
}

void ForbiddenCallWatch::Handle(ForbiddenCalls& reports, const ForbiddenCall& call) {
  const auto known = handlers_.find(call.pid);
  if (known != handlers_.end()) {
    const auto& take_permit = known->second.take_permit;
    if (call.is_fork && take_permit && take_permit()) return reports.LetFork(call);
    // A copy: it may end its own registration.
    const Handler handle = known->second.handle;
    return handle(call.name);
  }
  log::Error("a process that runs no job made a forbidden system call; it is killed",
             {{"pid", call.pid}, {"call", call.name}});
  // Safe by pid: it is our child and waits in that call, so the number is still its.
  if (call.pid > 0) kill(call.pid, SIGKILL);
}

}  // namespace skerry::agent
