// What every bench gets, and the list of them.
//
// Each measures in rounds, what it compares in turns (interleave.h), and reports ratios of medians.
//
// Threads: the main thread: benches start processes that end with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/interleave.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/workload.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::bench {

/// How long to measure.
struct Plan {
  int rounds;
  Millis stretch;  ///< of one side in one round
  Millis warm_up;
  std::uint64_t largest;  ///< of what grows by 10×: workers, tenants
};
// Odd, so that the median is a round that was measured.
inline constexpr Plan kFullPlan{9, Millis(3000), Millis(1000), 10'000};
/// All benches of the default set within a minute.
inline constexpr Plan kQuickPlan{3, Millis(300), Millis(100), 1'000};

/// Enough that no slot waits for the client: its round trip hides behind as many queued jobs again.
inline constexpr std::uint64_t kInFlightPerCore = 8;

struct Setting {
  Plan plan = kFullPlan;
  std::size_t workload_count = 5;   ///< of a bench's own choice, at most
  unsigned cores = 1;               ///< loops beside each other; slots are twice as many
  std::string binaries;             ///< the folder of our programs
  std::vector<Workload> workloads;  ///< asked for; empty: the bench's own choice
  Report* report = nullptr;
  Progress* progress = nullptr;

  std::uint64_t in_flight() const { return kInFlightPerCore * cores; }
  /// Those asked for, else the first of `usual`.
  Result<std::vector<Workload>> WorkloadsOr(const std::vector<std::string>& usual) const;
};

struct Bench {
  const char* name;
  const char* summary;
  bool in_default_set;
  Status (*run)(const Setting&);
};
/// In the order in which they run.
const std::vector<Bench>& AllBenches();

Status RunEngineBench(const Setting& setting);
Status RunStackBench(const Setting& setting);
Status RunBrokerBench(const Setting& setting);
Status RunLatencyBench(const Setting& setting);
Status RunOverloadBench(const Setting& setting);
Status RunReadyMadeBench(const Setting& setting);
Status RunScalingBench(const Setting& setting);
Status RunCostsBench(const Setting& setting);
Status RunPeersBench(const Setting& setting);

}  // namespace skerry::bench
