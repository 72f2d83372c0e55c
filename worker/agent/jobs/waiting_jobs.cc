#include "worker/agent/jobs/waiting_jobs.h"

#include <string>

namespace skerry::agent {

WaitingJobs::Ticket& WaitingJobs::Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    Leave();
    owner_ = std::exchange(other.owner_, nullptr);
    waiter_ = std::move(other.waiter_);
  }
  return *this;
}

void WaitingJobs::Ticket::Leave() {
  WaitingJobs* const owner = std::exchange(owner_, nullptr);
  const auto waiter = waiter_.lock();
  if (owner == nullptr || !waiter) return;
  waiter->left = true;
  if (!waiter->queued) return;  // it is being served; its queue may be gone
  owner->waiters_.remove(waiter);
  if (owner->on_left_) owner->on_left_();
}

WaitingJobs::WaitingJobs(EventLoop& loop, std::optional<Millis> max_wait, std::function<void()> on_left)
    : loop_(loop), max_wait_(max_wait), on_left_(std::move(on_left)) {}

WaitingJobs::Ticket WaitingJobs::Add(Ready ready) {
  auto waiter = std::make_shared<Waiter>();
  waiter->ready = std::move(ready);
  if (max_wait_)
    waiter->give_up = loop_.After(*max_wait_, [this, weak = std::weak_ptr(waiter)] { GiveUp(weak); });
  waiters_.push_back(waiter);
  return Ticket(this, waiter);
}

void WaitingJobs::GiveUp(const std::weak_ptr<Waiter>& weak) {
  const auto waiter = weak.lock();
  if (!waiter) return;
  waiters_.remove(waiter);
  waiter->queued = false;
  // Before it is told: what it does then may be the end of this.
  if (on_left_) on_left_();
  waiter->ready(Fail(ErrorKind::kUnavailable,
                     "no cell could fork an isolate for " + std::to_string(max_wait_->count()) + " ms"));
}

void WaitingJobs::Serve(Isolate isolate) {
  const auto waiter = waiters_.front();
  waiters_.pop_front();
  waiter->queued = false;
  waiter->ready(std::move(isolate));
}

void WaitingJobs::FailAll(const Error& error) {
  // What one does when it is told may make another leave.
  const auto told = std::exchange(waiters_, {});
  for (const auto& waiter : told) waiter->queued = false;
  for (const auto& waiter : told) {
    if (!waiter->left) waiter->ready(Fail(error));
  }
}

}  // namespace skerry::agent
