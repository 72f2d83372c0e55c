// A cluster with its clients at work, what it is struck with meanwhile, and what must hold whatever that was:
// every job has exactly one final, nothing runs after its cancel, and jobs flow again soon after each heal.
//
//   client0, client1   jobs that wait for a host call, without end: whose flow is watched
//   client2            jobs that ask the host again and again for ever, and are cancelled
//   client3            `skerry run --resume` over a file: the one that can be killed
//
// Threads: one. Ownership: owns the cluster. Errors: what does not hold fails the test, with the story so
// far.
#pragma once

#include <array>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/netns/cluster.h"
#include "tests/support/load.h"

namespace skerry::testing {

class ClusterLoad {
 public:
  /// What is asked where other tests, or compilers, run beside.
  static constexpr std::chrono::milliseconds kBackAmongOthers{20'000};

  /// For so many faults, which says how many jobs the file has.
  explicit ClusterLoad(int faults, std::chrono::milliseconds back_within = kBackAmongOthers);
  ~ClusterLoad();

  /// Begins, lasts, heals, and waits for the flow to be back; fails the test where it is not in time.
  void Strike(const testing::Strike& strike, std::chrono::milliseconds lasts);
  /// It is not healed: the flow must be back without it.
  void StrikeForGood(const testing::Strike& strike);
  /// No more jobs; waits for the end of those there are, and checks them all.
  void End();

  std::string Story() const;
  bool has_netem() const { return cluster_.has_netem(); }

 private:
  static constexpr int kWatched = 2;
  using Clock = std::chrono::steady_clock;

  void StartLoads();
  std::array<std::size_t, kWatched> Finished() const;
  void MeasureBaseline();
  /// How long it took from now; nothing: it is not back at all.
  std::optional<std::chrono::milliseconds> AwaitFlow();
  void ExpectFlow();
  void CheckWatched();
  void CheckCancelled();
  void CheckFile();

  const int lines_;
  const std::chrono::milliseconds back_within_;
  TempDir dir_;
  Cluster cluster_;
  std::vector<std::unique_ptr<Load>> watched_;
  std::unique_ptr<Load> cancelled_;
  std::array<double, kWatched> per_second_{};
  std::ostringstream story_;
  std::vector<double> back_after_ms_;
};

}  // namespace skerry::testing
