// Whether a pool serves: a job of one line, sent to it and waited for.
//
// Threads: one of its own, which ends with it; Ended and the destructor on the caller's.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "clients/cli/up/supervision.h"

namespace skerry::cli {

class FirstJob {
 public:
  explicit FirstJob(std::string endpoint);
  /// Waits for the thread, which looks up every 100 ms (a broker that is not there: every 250 ms).
  ~FirstJob();
  FirstJob(const FirstJob&) = delete;
  FirstJob& operator=(const FirstJob&) = delete;

  /// Nothing: not yet. A job that is LOST with its worker is sent again.
  std::optional<TrialEnd> Ended();

 private:
  void Work();
  /// False: no broker yet, or the job was lost.
  bool TryOnce();

  const std::string endpoint_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::optional<TrialEnd> end_;
  std::thread thread_;
};

/// Whether a process accepts connections on a UNIX socket or TCP endpoint of this machine.
bool SomebodyListens(const std::string& endpoint);

}  // namespace skerry::cli
