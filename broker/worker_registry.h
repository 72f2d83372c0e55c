// The workers that are connected, what each may run at once, and which leases it holds.
//
// Slots and memory are credit: what is in use never passes what the worker said, at the moment of dispatch. A
// worker that lowers its credit below what it runs simply gets nothing until enough has ended.
//
// Ownership: owns Worker records; jobs point to them while they run. Threads: the core's.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "broker/answer_keep.h"
#include "broker/bounded_set.h"
#include "broker/gauges.h"
#include "broker/job.h"
#include "broker/outbox.h"
#include "broker/worker_state.h"
#include "common/ids.h"
#include "common/units.h"
#include "common/worker_stats.h"

namespace skerry::broker {

struct Worker {
  SessionId session;
  Peer link;
  TimePoint last_heard;
  std::uint64_t slots = 0;  ///< credit now
  std::uint64_t memory_mb = 0;
  std::uint64_t full_memory_mb = 0;  ///< the most it ever offered: whether a job could ever run there
  std::uint64_t used_memory_mb = 0;
  bool reproducible = false;  ///< knows `seed`, `clock` and `receipt`
  WorkerBuild build;
  WorkerStats stats;  ///< as it told them last
  WorkerState state = WorkerState::kServing;
  TimePoint away_until;
  std::unordered_map<LeaseId, Job*> leases;
  /// Taken from it while it held them, or named by it and not its own: what still comes for these is no lie.
  BoundedSet<LeaseId, wire::kMaxArray> revoked;
  std::uint64_t seen = 0;  ///< the highest number of its messages; lower ones come twice
  AnswerKeep answers;
  std::uint64_t control_messages = 0;  ///< since the last heartbeat

  bool accepting() const { return state == WorkerState::kServing; }
  std::uint64_t used_slots() const { return leases.size(); }
  /// Whether it would do all that the job asks, and not pass over what it does not know.
  bool Understands(const JobSpec& job) const { return reproducible || !AsksForReproducibility(job); }
  bool HasRoomFor(const JobSpec& job) const {
    return accepting() && Understands(job) && used_slots() < slots &&
           used_memory_mb + job.memory_mb <= memory_mb;
  }
};

class WorkerRegistry {
 public:
  /// A new record, or the one of that session bound to its new link with its leases kept.
  Worker& Connect(const SessionId& session, const Peer& link, TimePoint now);
  bool Knows(const SessionId& session) const { return workers_.contains(session); }
  Worker* Find(const Peer& link);
  void Erase(Worker& worker);

  /// The least loaded worker with a free slot and the memory that understands the job, or null.
  Worker* PickFor(const JobSpec& job);
  /// Whether some worker that takes jobs at all could run this one when idle.
  bool CouldEverTake(const JobSpec& job) const;
  /// The most memory that any accepting worker that understands it has for the job; 0: there is none.
  std::uint64_t LargestMemoryMb(const JobSpec& job) const;
  /// Whether any worker is serving.
  bool AnyAccepting() const;
  /// Whether any of them has a free slot, whatever its memory.
  bool AnyFreeSlot() const;

  void Take(Worker& worker, Job& job);
  void Release(Job& job);

  /// Pointers stay valid until the worker is erased.
  std::vector<Worker*> All();
  std::size_t size() const { return workers_.size(); }
  std::uint64_t leases() const;
  WorkerSums Sums() const;
  WorkerBuilds Builds() const;

 private:
  std::unordered_map<SessionId, std::unique_ptr<Worker>> workers_;
  std::unordered_map<Peer, Worker*> links_;
};

}  // namespace skerry::broker
