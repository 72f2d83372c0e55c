// The workers that are connected, what each may run at once, and which leases it holds.
//
// Slots and memory are credit: what is in use never passes what the worker said, at the moment of dispatch. A
// worker that lowers its credit below what it runs simply gets nothing until enough has ended.
//
// Whatever bears on who gets the next job changes through the registry, which keeps its indexes and its sums
// in step: finding a worker costs the logarithm of their number, every other question nothing that grows.
//
// Ownership: owns Worker records; jobs point to them while they run. Threads: the core's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "broker/answer_keep.h"
#include "broker/bounded_set.h"
#include "broker/gauges.h"
#include "broker/job.h"
#include "broker/outbox.h"
#include "broker/worker_index.h"
#include "broker/worker_state.h"
#include "common/ids.h"
#include "common/units.h"
#include "common/worker_stats.h"

namespace skerry::broker {

/// What a worker may be given at once.
struct Credit {
  std::uint64_t slots = 0;
  std::uint64_t memory_mb = 0;
};

struct Worker {
  SessionId session;
  Peer link;
  TimePoint last_heard;
  TimePoint away_until;
  /// Taken from it while it held them, or named by it and not its own: what still comes for these is no lie.
  BoundedSet<LeaseId, wire::kMaxArray> revoked;
  std::uint64_t seen = 0;  ///< the highest number of its messages; lower ones come twice
  AnswerKeep answers;
  std::uint64_t control_messages = 0;  ///< since the last heartbeat

  WorkerState state() const { return state_; }
  bool accepting() const { return state_ == WorkerState::kServing; }
  const Credit& credit() const { return credit_; }
  Skill skill() const { return skill_; }
  /// The most it ever offered: whether a job could ever run there.
  std::uint64_t full_memory_mb() const { return full_memory_mb_; }
  const WorkerStats& stats() const { return stats_; }  ///< as it told them last
  const std::unordered_map<LeaseId, Job*>& leases() const { return leases_; }
  std::uint64_t used_slots() const { return leases_.size(); }
  std::uint64_t used_memory_mb() const { return used_memory_mb_; }

 private:
  friend class WorkerRegistry;
  WorkerState state_ = WorkerState::kServing;
  Credit credit_;
  Skill skill_ = Skill::kPlain;
  std::uint64_t full_memory_mb_ = 0;
  std::uint64_t used_memory_mb_ = 0;
  std::unordered_map<LeaseId, Job*> leases_;
  WorkerBuild build_;
  WorkerStats stats_;
  std::array<WorkerIndex::Place, kSkills> places_ = {WorkerIndex::kNowhere, WorkerIndex::kNowhere};
};

class WorkerRegistry {
 public:
  /// A new record, or the one of that session bound to its new link with its leases kept.
  Worker& Connect(const SessionId& session, const Peer& link, TimePoint now);
  bool Knows(const SessionId& session) const { return workers_.contains(session); }
  Worker* Find(const Peer& link);
  void Erase(Worker& worker);

  /// What its HELLO says: its credit then is all that it has.
  void Introduce(Worker& worker, WorkerBuild build, Skill skill, Credit credit);
  void SetCredit(Worker& worker, Credit credit);
  /// False, and nothing done, where the event means nothing in its state.
  bool Advance(Worker& worker, WorkerEvent event);
  void SetStats(Worker& worker, const WorkerStats& stats);
  /// Makes the job's lease.
  void Take(Worker& worker, Job& job, LeaseId id);
  void Release(Job& job);

  /// The least loaded worker with a free slot, the memory and the skill, or null. Equally loaded ones take
  /// turns.
  Worker* PickFor(const Need& need) const { return With(need.skill).index.LeastLoaded(need.memory_mb); }
  /// Whether some worker that takes jobs at all could run this one when idle.
  bool CouldEverTake(const Need& need) const { return need.memory_mb <= LargestMemoryMb(need.skill); }
  /// The most memory that any accepting worker of that skill has for one job; 0: there is none.
  std::uint64_t LargestMemoryMb(Skill skill) const {
    const auto& offers = With(skill).offers;
    return offers.empty() ? 0 : offers.rbegin()->first;
  }
  /// Whether any worker is serving.
  bool AnyAccepting() const { return !With(Skill::kPlain).offers.empty(); }
  /// Whether any of them has a free slot, whatever its memory and skill.
  bool AnyFreeSlot() const { return !With(Skill::kPlain).index.empty(); }

  /// Pointers stay valid until the worker is erased.
  std::vector<Worker*> All();
  std::size_t size() const { return workers_.size(); }
  std::uint64_t leases() const { return sums_.slots_used; }
  const WorkerSums& Sums() const { return sums_; }
  const WorkerBuilds& Builds() const { return builds_; }

 private:
  /// The accepting workers that have a skill.
  struct Crowd {
    WorkerIndex index;                              // those with a free slot
    std::map<std::uint64_t, std::uint64_t> offers;  // full memory, how many have it
  };
  const Crowd& With(Skill skill) const { return crowds_[static_cast<std::size_t>(skill)]; }

  // What the worker counts in crowds, sums and builds is taken out before it changes, and put in
  // again.
  void LeaveRoom(Worker& worker);
  void EnterRoom(Worker& worker);
  void Leave(Worker& worker);
  void Enter(Worker& worker);

  std::unordered_map<SessionId, std::unique_ptr<Worker>> workers_;
  std::unordered_map<Peer, Worker*> links_;
  std::array<Crowd, kSkills> crowds_;
  WorkerSums sums_;
  WorkerBuilds builds_;
};

}  // namespace skerry::broker
