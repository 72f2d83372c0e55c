// The jobs that wait for a worker, bounded by number and by bytes, with queue deadlines. Whose turn it is,
// FairQueue says.
//
// A job whose libraries no worker has now is parked: out of its line, so that those behind it have their
// turn, and back in its place when such a worker comes. It counts and expires as any other.
//
// Code that queued jobs of one program share is counted once.
//
// Where several tenants share the queue none may fill it: each may hold up to kTimesFree times what is free,
// in jobs and in bytes, so that alone it holds eight ninths, two hold eight seventeenths each, and whoever
// comes finds some room. (Dynamic thresholds: Choudhury and Hahne, "Dynamic Queue Length Thresholds for
// Shared-Memory Packet Switches", 1998.)
//
// Ownership: points to jobs that their sessions own; a job must be removed before it dies. Threads: the
// core's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "broker/jobs/job.h"
#include "broker/queue/fair_queue.h"
#include "common/units.h"

namespace skerry::broker {

class DispatchQueue {
 public:
  struct Rules {
    std::uint64_t max_jobs = 0;
    Bytes max_bytes;
    Millis ageing{1'000};  ///< FairQueue's
    FairQueue::ShareOf share_of = [](const TenantId&) { return Share(); };
  };
  explicit DispatchQueue(Rules rules)
      : max_jobs_(rules.max_jobs), max_bytes_(rules.max_bytes), fair_(rules.share_of, rules.ageing) {}

  enum class Code : bool { kOwn, kShared };

  /// Whether a job with these fits. An empty queue takes any one job.
  bool HasRoomFor(const Payload& code, const Payload& input, Code kind) const;
  static constexpr std::uint64_t kTimesFree = 8;
  /// Whether another job of the tenant leaves room for others.
  bool LeavesRoom(const TenantId& tenant) const;
  /// To the end. The caller has asked HasRoomFor.
  void Push(Job& job);
  /// Back to the front, where a job goes that had its turn already; never refused.
  void PushFront(Job& job);
  void Remove(Job& job);
  /// A job that is first in its line.
  void Park(Job& job);
  /// Back to their places: parked jobs for whose libraries `ready` holds. It is asked once for each set.
  void Unpark(const std::function<bool(std::span<const std::string>)>& ready);
  std::size_t parked() const { return parked_count_; }

  /// Whose turn it is, or null.
  Job* Front() const { return fair_.Front(); }
  /// The job, which has its lease, runs; what it is thought to cost.
  void Start(Job& job, std::uint64_t cost_us);
  FairQueue& fair() { return fair_; }
  const FairQueue& fair() const { return fair_; }

  /// A job whose deadline is `now` or earlier, held back or not, or null.
  Job* Expired(TimePoint now) const;
  std::optional<TimePoint> NextDeadline() const;

  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::uint64_t bytes() const { return bytes_; }

  /// A job and its header strings: measured near 350 bytes with short names, and each name may have 256.
  static constexpr std::uint64_t kBytesPerJob = 1024;

 private:
  void Enter(Job& job, std::int64_t order);
  /// It waits here no more.
  void Discount(Job& job, std::uint64_t bytes);
  /// What its payloads count here, coming and going.
  std::uint64_t AddBytes(const Job& job);
  std::uint64_t DropBytes(const Job& job);
  void DropParked(Job& job);

  std::uint64_t max_jobs_;
  Bytes max_bytes_;
  FairQueue fair_;
  std::map<std::pair<TimePoint, std::int64_t>, Job*> deadlines_;
  std::map<LibraryNames, Job*> parked_;                     // by libraries, sorted: the first of a list
  std::unordered_map<const void*, std::uint64_t> sharers_;  // of a program's code: how many jobs
  std::size_t parked_count_ = 0;
  std::int64_t next_back_ = 1;
  std::int64_t next_front_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace skerry::broker
