// What a job costs: the time for which it has a slot, which nobody else has meanwhile, whether it computes or
// waits (docs/decisions/0021). Before it has run it is thought to cost what the last runs of its program did,
// else those of its tenant, else those of all. Of a tenant that is new, to guess more than others are charged
// would make it wait for nothing, and less would let it pass them.
//
// A moving average: a quarter of each new run. By the broker's clock: workers have no say in it. Each run is
// bounded by what the job's limits let it use, and what is charged is put right when a job has ended, so that
// a wrong estimate only shifts whose turn it is for as long as the job runs.
//
// Threads: the core's. Memory: kMaxKnown averages; those used longest ago are forgotten.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

#include "broker/jobs/job.h"

namespace skerry::broker {

class CostModel {
 public:
  static constexpr std::size_t kMaxKnown = 8192;
  /// A fork, its messages and its reaping cost something, whatever the program does.
  static constexpr std::uint64_t kLeastUs = 1'000;

  std::uint64_t Estimate(const Job& job) const;
  /// What a run that had its slot for so long is taken to have cost, us.
  static std::uint64_t Of(const Job& job, double slot_ms);
  /// A run has ended by itself. Returns what it has cost, us.
  std::uint64_t Learn(const Job& job, double slot_ms);
  std::size_t size() const { return order_.size(); }

 private:
  using Name = std::uint64_t;  // a hash: two that meet share an average
  struct Average {
    Name name = 0;
    std::uint64_t us = 0;
  };

  const Average* Find(Name name) const;
  void Add(Name name, std::uint64_t us);

  std::list<Average> order_;  // the last learnt at the end
  std::unordered_map<Name, std::list<Average>::iterator> known_;
  std::uint64_t of_all_us_ = kLeastUs;  // of some hundred runs
};

}  // namespace skerry::broker
