#include "worker/agent/event_loop.h"

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <optional>
#include <utility>

namespace skerry::agent {

using Descriptor = asio::posix::stream_descriptor;

struct EventLoop::Watch::State : std::enable_shared_from_this<State> {
  State(asio::io_context& context, int fd, std::function<void()> callback)
      : descriptor(context, fd), on_readable(std::move(callback)) {}

  void ArmRead() {
    descriptor.async_wait(Descriptor::wait_read, [self = shared_from_this()](const asio::error_code& error) {
      if (!self->alive || error) return;
      self->on_readable();
      if (self->alive) self->ArmRead();
    });
  }

  void ArmWrite() {
    descriptor.async_wait(Descriptor::wait_write, [self = shared_from_this()](const asio::error_code& error) {
      if (!self->alive || error) return;
      if (auto callback = std::exchange(self->on_writable, nullptr)) callback();
    });
  }

  Descriptor descriptor;
  std::function<void()> on_readable;
  std::function<void()> on_writable;  // empty: nobody waits
  bool alive = true;
};

EventLoop::Watch& EventLoop::Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    Reset();
    state_ = std::move(other.state_);
  }
  return *this;
}

void EventLoop::Watch::Reset() {
  if (!state_) return;
  state_->alive = false;
  state_->descriptor.release();  // out of epoll, but not closed: the descriptor is borrowed
  state_.reset();
}

void EventLoop::Watch::OnceWritable(std::function<void()> callback) {
  const bool waiting = static_cast<bool>(std::exchange(state_->on_writable, std::move(callback)));
  if (!waiting) state_->ArmWrite();
}

struct EventLoop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(context);
  asio::steady_timer timer{context};
  std::optional<TimePoint>
      armed;  // when the timer will fire; it is left to fire in vain when an entry is cancelled
  std::vector<std::unique_ptr<asio::signal_set>> signals;

  void ArmTimer(Deadlines& deadlines, TimePoint when) {
    if (armed && *armed <= when) return;
    armed = when;
    timer.expires_at(when);
    timer.async_wait([this, &deadlines](const asio::error_code& error) {
      if (error) return;
      armed.reset();
      deadlines.RunDue(SteadyClock::now());
      if (const auto next = deadlines.Next()) ArmTimer(deadlines, *next);
    });
  }

  void ArmSignals(asio::signal_set& set, std::function<void(int)> callback) {
    set.async_wait([this, &set, callback = std::move(callback)](const asio::error_code& error, int signal) {
      if (error) return;
      ArmSignals(set, callback);
      callback(signal);
    });
  }
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {
  deadlines_.set_on_earlier([this](TimePoint when) { impl_->ArmTimer(deadlines_, when); });
}

EventLoop::~EventLoop() = default;

EventLoop::Watch EventLoop::OnReadable(int fd, std::function<void()> callback) {
  Watch watch;
  watch.state_ = std::make_shared<Watch::State>(impl_->context, fd, std::move(callback));
  watch.state_->ArmRead();
  return watch;
}

void EventLoop::OnSignals(const std::vector<int>& signals, std::function<void(int)> callback) {
  auto& set = *impl_->signals.emplace_back(std::make_unique<asio::signal_set>(impl_->context));
  for (int signal : signals) set.add(signal);
  impl_->ArmSignals(set, std::move(callback));
}

void EventLoop::Post(std::function<void()> task) {
  asio::post(impl_->context, std::move(task));
}

void EventLoop::Run() {
  impl_->context.restart();
  impl_->context.run();
}

void EventLoop::Stop() {
  impl_->context.stop();
}

}  // namespace skerry::agent
