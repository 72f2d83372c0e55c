// Whether a pool serves: a job of one line, sent to it and waited for.
//
// Threads: one of its own, which ends with it; Served and the destructor on the caller's.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace skerry::cli {

class FirstJob {
 public:
  explicit FirstJob(std::string endpoint);
  /// Waits for the thread, which looks up every 100 ms (a broker that is not there: every 250 ms).
  ~FirstJob();
  FirstJob(const FirstJob&) = delete;
  FirstJob& operator=(const FirstJob&) = delete;

  /// Nothing: not yet. An empty text: the job was ok. Else the code that it ended with.
  std::optional<std::string> Served();

 private:
  void Work();
  /// False: no broker yet.
  bool TryOnce();

  const std::string endpoint_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::optional<std::string> served_;
  std::thread thread_;
};

/// Whether a process accepts connections on a UNIX socket or TCP endpoint of this machine.
bool SomebodyListens(const std::string& endpoint);

}  // namespace skerry::cli
