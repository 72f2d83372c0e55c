#include "worker/agent/cells/cell_starter.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace skerry::agent {

CellStarter::CellStarter(EventLoop& loop, CellFactory factory)
    : loop_(loop), factory_(std::move(factory)), thread_([this] { Serve(); }) {}

CellStarter::~CellStarter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  *alive_ = false;
}

void CellStarter::Start(Started started) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(started));
  }
  wake_.notify_one();
}

void CellStarter::Serve() {
  // Signals are the loop's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  pthread_setname_np(pthread_self(), "cell-starter");
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !requests_.empty(); });
    if (stopping_) return;
    Started started = std::move(requests_.front());
    requests_.pop_front();
    lock.unlock();
    // Shared, because std::function must be copyable.
    auto cell = std::make_shared<Result<std::unique_ptr<Cell>>>(factory_());
    loop_.Post([alive = alive_, started = std::move(started), cell] {
      if (*alive) started(std::move(*cell));
    });
    cell.reset();
    lock.lock();
  }
}

}  // namespace skerry::agent
