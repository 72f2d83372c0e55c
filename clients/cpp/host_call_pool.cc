#include "clients/cpp/host_call_pool.h"

#include <exception>
#include <utility>

namespace skerry::client {

HostReply Answered(const HostCallHandler& handler, const HostCall& call) {
  if (!handler) return {HostReply::Kind::kError, "this client answers no host calls", Millis(0)};
  try {
    return handler(call.job, call.method, call.params);
  } catch (const std::exception& error) {
    return {HostReply::Kind::kError, std::string("the host failed: ") + error.what(), Millis(0)};
  } catch (...) {
    return {HostReply::Kind::kError, "the host failed", Millis(0)};
  }
}

HostCallPool::HostCallPool(std::size_t threads, const HostCallHandler& handler, Hooks hooks)
    : handler_(handler), hooks_(std::move(hooks)) {
  threads_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Serve(); });
}

HostCallPool::~HostCallPool() {
  Stop();
}

void HostCallPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  pushed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void HostCallPool::Push(HostCall call) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    waiting_bytes_ += call.bytes();
    waiting_.push_back(std::move(call));
  }
  pushed_.notify_one();
}

std::uint64_t HostCallPool::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_;
}

void HostCallPool::Serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    pushed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const HostCall call = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= call.bytes();
    lock.unlock();
    HostReply reply{HostReply::Kind::kNever, {}, Millis(0)};
    if (hooks_.wanted(call)) reply = Answered(handler_, call);
    hooks_.done(call, std::move(reply));
    lock.lock();
  }
}

}  // namespace skerry::client
