// The threads that run a client's host call handler: a handler that blocks holds up its own thread, never the
// link to the broker.
//
// Threads: Push and waiting_bytes from any. `wanted` and `done` are called on the pool's threads, with no
// lock of the pool held. Ownership: the destructor stops it. Errors: what a handler throws becomes an error
// reply.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "clients/cpp/client_types.h"
#include "clients/cpp/host_call.h"

namespace skerry::client {

/// The handler's reply, an error reply where it throws or where there is none.
HostReply Answered(const HostCallHandler& handler, const HostCall& call);

class HostCallPool {
 public:
  struct Hooks {
    /// Asked before the handler runs: false skips it (the job has ended meanwhile).
    std::function<bool(const HostCall&)> wanted;
    /// Every call's end, exactly once; kNever for a skipped one.
    std::function<void(const HostCall&, HostReply)> done;
  };

  HostCallPool(std::size_t threads, const HostCallHandler& handler, Hooks hooks);
  ~HostCallPool();
  HostCallPool(const HostCallPool&) = delete;
  HostCallPool& operator=(const HostCallPool&) = delete;

  /// Forgets the calls that wait and those pushed from now on; returns when the handlers that run have
  /// returned. Call it once, and not from a handler.
  void Stop();

  void Push(HostCall call);
  /// Of the calls that no thread has taken yet.
  std::uint64_t waiting_bytes() const;

 private:
  void Serve();

  const HostCallHandler& handler_;
  const Hooks hooks_;
  mutable std::mutex mutex_;
  std::condition_variable pushed_;
  std::deque<HostCall> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace skerry::client
