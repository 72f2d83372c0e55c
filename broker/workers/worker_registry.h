// The workers that are connected, what each may run at once, and which leases it holds.
//
// Slots and memory are credit: what is in use never passes what the worker said, at the moment of dispatch. A
// worker that lowers its credit below what it runs simply gets nothing until enough has ended.
//
// Workers of one kind, that is of the same skill and libraries, are a crowd. A pool has a kind or two, more
// while it is being upgraded; kMaxKinds bounds them, whatever workers say.
//
// Whatever bears on who gets the next job changes through the registry, which keeps its indexes and its sums
// in step: finding a worker costs the logarithm of their number for each kind, every other question nothing
// that grows with them.
//
// Ownership: owns Worker records; jobs point to them while they run. Threads: the core's.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/bounded_set.h"
#include "broker/jobs/job.h"
#include "broker/jobs/library_names.h"
#include "broker/metrics/gauges.h"
#include "broker/outbox.h"
#include "broker/recent_set.h"
#include "broker/sessions/answer_keep.h"
#include "broker/workers/worker_index.h"
#include "broker/workers/worker_state.h"
#include "common/ids.h"
#include "common/units.h"
#include "common/worker_stats.h"

namespace skerry::broker {

/// What a worker may be given at once.
struct Credit {
  std::uint64_t slots = 0;
  std::uint64_t memory_mb = 0;
};

/// What a worker can be given beyond what any can.
struct WorkerKind {
  Skill skill = Skill::kPlain;
  LibraryNames libraries;  ///< sorted
  auto operator<=>(const WorkerKind&) const = default;
  bool Serves(const Need& need) const { return skill >= need.skill && HasAll(libraries, need.libraries); }
};

/// The workers of one kind.
struct WorkerCrowd {
  std::uint64_t workers = 0;
  WorkerIndex index;                              ///< those that accept and have a free slot
  std::map<std::uint64_t, std::uint64_t> offers;  ///< of those that accept: largest job, how many take it
};

/// Whether an operator wants a worker to get no more jobs. Beside its state, which is its own and its link's
/// doing: it outlives HELLOs, and the worker is not asked.
enum class OperatorDrain : bool { kOff, kOn };

struct Worker {
  /// Programs whose code it is taken to have. More are sent again to workers that have them; a worker forgets
  /// by bytes, and says so.
  static constexpr std::size_t kMaxSentCode = 512;

  SessionId session;
  Peer link;
  TimePoint last_heard;
  TimePoint away_until;
  /// Taken from it while it held them, or named by it and not its own: what still comes for these is no lie.
  BoundedSet<LeaseId, wire::kMaxArray> revoked;
  TimePoint since;          ///< its first HELLO
  std::uint64_t given = 0;  ///< leases, ever
  std::string host;         ///< this and the next: as it says, printable ASCII
  std::uint64_t pid = 0;
  std::uint64_t seen = 0;  ///< the highest number of its messages; lower ones come twice
  AnswerKeep answers;
  std::uint64_t control_messages = 0;  ///< since the last heartbeat
  /// Code that it was sent, by the first 8 bytes of its hash: two that agree in these cost it a question.
  RecentSet<std::uint64_t, kMaxSentCode> sent_code;

  WorkerState state() const { return state_; }
  bool accepting() const { return state_ == WorkerState::kServing && !drained(); }
  bool drained() const { return by_operator_ == OperatorDrain::kOn; }
  const WorkerBuild& build() const { return build_; }
  const Credit& credit() const { return credit_; }
  const WorkerKind& kind() const { return crowd_->first; }
  /// The most it ever offered.
  std::uint64_t full_memory_mb() const { return full_memory_mb_; }
  /// What a job can have there when nothing else runs.
  std::uint64_t largest_job_mb() const { return std::min(full_memory_mb_, most_of_job_mb_); }
  const WorkerStats& stats() const { return stats_; }  ///< as it told them last
  const std::unordered_map<LeaseId, Job*>& leases() const { return leases_; }
  std::uint64_t used_slots() const { return leases_.size(); }
  std::uint64_t used_memory_mb() const { return used_memory_mb_; }

 private:
  friend class WorkerRegistry;
  WorkerState state_ = WorkerState::kServing;
  OperatorDrain by_operator_ = OperatorDrain::kOff;
  Credit credit_;
  std::uint64_t full_memory_mb_ = 0;
  std::uint64_t most_of_job_mb_ = UINT64_MAX;
  std::uint64_t used_memory_mb_ = 0;
  std::unordered_map<LeaseId, Job*> leases_;
  WorkerBuild build_;
  WorkerStats stats_;
  std::pair<const WorkerKind, WorkerCrowd>* crowd_ = nullptr;  // the registry's
  WorkerIndex::Place place_ = WorkerIndex::kNowhere;           // in its index
};

class WorkerRegistry {
 public:
  static constexpr std::size_t kMaxKinds = 64;

  /// A new record, or the one of that session bound to its new link with its leases kept.
  Worker& Connect(const SessionId& session, const Peer& link, TimePoint now);
  bool Knows(const SessionId& session) const { return workers_.contains(session); }
  Worker* Find(const Peer& link);
  Worker* Find(const SessionId& session) const;
  /// Those behind `after`, in the order of their ids.
  std::vector<const Worker*> After(const SessionId& after, std::size_t most) const;
  void Erase(Worker& worker);

  /// False where there are kMaxKinds others already.
  bool HasRoomFor(const WorkerKind& kind) const {
    return crowds_.size() < kMaxKinds || crowds_.contains(kind);
  }
  /// What its HELLO says: its credit then is all that it has. No job there can have more than
  /// `most_of_job_mb`.
  void Introduce(Worker& worker, WorkerBuild build, WorkerKind kind, Credit credit,
                 std::uint64_t most_of_job_mb = UINT64_MAX);
  void SetCredit(Worker& worker, Credit credit);
  /// False, and nothing done, where the event means nothing in its state.
  bool Advance(Worker& worker, WorkerEvent event);
  void SetDrain(Worker& worker, OperatorDrain drain);
  void SetStats(Worker& worker, const WorkerStats& stats);
  /// Makes the job's lease.
  void Take(Worker& worker, Job& job, LeaseId id);
  void Release(Job& job);

  /// The least loaded worker with a free slot, the memory, the skill and the libraries, or null. Equally
  /// loaded ones take turns.
  Worker* PickFor(const Need& need) const;
  /// Whether, once such a job has gone to `worker`, there is a place for another.
  bool HasPlaceBeside(Worker& worker, const Need& need);
  /// Whether some worker that takes jobs at all could run this one when idle.
  bool CouldEverTake(const Need& need) const { return need.memory_mb <= LargestMemoryMb(need); }
  /// The most memory that any accepting worker of the skill and with the libraries has for one job; 0: there
  /// is none.
  std::uint64_t LargestMemoryMb(const Need& need) const;
  /// Whether any worker is serving.
  bool AnyAccepting() const { return accepting_ > 0; }
  /// Whether any of them has a free slot, whatever its memory, skill and libraries.
  bool AnyFreeSlot() const { return AnyFreeSlotFor({}); }
  /// Whatever the memory.
  bool AnyFreeSlotFor(const Need& need) const;

  /// The libraries of all connected workers, draining ones and absent ones included.
  std::set<std::string> Libraries() const;
  /// Whether one connected worker has all of them.
  bool OneHasAll(std::span<const std::string> libraries) const;
  /// The first that no worker has or has had; of those that went away, the kMaxRemembered last are known.
  const std::string* NeverSeen(std::span<const std::string> libraries) const;
  static constexpr std::size_t kMaxRemembered = 1024;

  /// Pointers stay valid until the worker is erased.
  std::vector<Worker*> All();
  std::size_t size() const { return workers_.size(); }
  std::uint64_t leases() const { return sums_.slots_used; }
  const WorkerSums& Sums() const { return sums_; }
  const WorkerBuilds& Builds() const { return builds_; }

 private:
  // What the worker counts in crowds, sums and builds is taken out before it changes, and put in
  // again.
  void LeaveRoom(Worker& worker);
  void EnterRoom(Worker& worker);
  void Leave(Worker& worker);
  void Enter(Worker& worker);
  void SetKind(Worker& worker, WorkerKind kind);
  void LeaveKind(Worker& worker);

  std::map<SessionId, std::unique_ptr<Worker>> workers_;
  std::unordered_map<Peer, Worker*> links_;
  std::map<WorkerKind, WorkerCrowd> crowds_;  // none is empty
  BoundedSet<std::string, kMaxRemembered> seen_libraries_;
  std::uint64_t accepting_ = 0;
  std::uint64_t next_turn_ = 1;
  WorkerSums sums_;
  WorkerBuilds builds_;
};

}  // namespace skerry::broker
