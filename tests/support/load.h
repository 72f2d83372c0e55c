// Jobs through the client library at a pace of the test's choosing, each with its latency as the client saw
// it: what `skerry run` costs to start is in none of these figures.
//
//   Load steady(pool.client_url(), {.every = Millis(20)}, Endless("s", "return 1"));
//   ...
//   steady.Stop();
//   for (const auto& [id, finished] : steady.Join()) ...
//
// Threads: a Load has one, which calls the source; the client's own call `on_call`. The test's thread does
// the rest. Errors: a job that ends twice, one that cannot be submitted and a lost broker fail the test in
// Join.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "clients/cpp/client_types.h"
#include "tests/support/job.h"

namespace skerry::testing {

struct Pace {
  std::uint64_t window = 256;  ///< jobs unfinished at once
  Millis every{0};             ///< one is due this long after the one before; 0: whenever the window has room
  /// In place of `every`: how long after the one before the next is due.
  std::function<Micros()> gap = {};
  /// How long after its submission a job is cancelled, if it has not ended; none: it is not.
  std::function<Micros()> cancel_after = {};
};

struct Finished {
  JobResult result;
  /// From when it was due to when its final was there. None is due while the window is full.
  double latency_ms = 0;
  std::chrono::system_clock::time_point when{};  ///< its final was there
  double cancel_ms = 0;                          ///< from its cancel to its final, where it was cancelled
};

class Load {
 public:
  /// The next job; nothing: there are no more.
  using Source = std::function<std::optional<Job>()>;

  Load(std::string broker, Pace pace, Source next, HostCallHandler on_call = {});
  /// The window is the pace's.
  Load(ClientOptions options, Pace pace, Source next);
  ~Load() { Join(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// No more jobs are submitted.
  void Stop() { stop_ = true; }
  /// Nor is the end of any waited for: the client takes its leave, and the broker drops what it had.
  void Abandon() { abandoned_ = true; }
  std::size_t finished() const { return done_; }
  /// Waits for the end of every job. By id.
  const std::map<std::string, Finished>& Join();

 private:
  struct Run;
  TimePoint NextDue(TimePoint due, TimePoint now) const;
  void Work();

  const ClientOptions options_;
  const Pace pace_;
  const Source next_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> abandoned_{false};
  std::atomic<std::size_t> done_{0};
  std::map<std::string, Finished> finished_;
  std::vector<std::string> faults_;
  std::thread thread_;
};

/// Jobs of this list.
Load::Source Each(std::vector<Job> jobs);
/// `prefix`0, `prefix`1, ... with the same code, until the load is stopped.
Load::Source Endless(const std::string& prefix, const Job& like);

/// Arrivals that know nothing of each other, so many a second on average: for Pace::gap.
std::function<Micros()> PoissonGaps(double per_second, std::uint64_t seed);

/// The value below which `part` (0 to 1) of the values lie; they must not be none.
double Quantile(std::vector<double> values, double part);
std::vector<double> Latencies(const std::map<std::string, Finished>& finished);

}  // namespace skerry::testing
