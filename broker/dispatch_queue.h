// The jobs that wait for a worker: first in, first out, bounded by number and by bytes, with queue deadlines.
//
// Strictly in order: a job whose memory no worker has free now holds up those behind it, so that large jobs
// do not starve behind small ones.
//
// Ownership: points to jobs that their sessions own; a job must be removed before it dies. Threads: the
// core's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "broker/job.h"
#include "common/units.h"

namespace skerry::broker {

class DispatchQueue {
 public:
  DispatchQueue(std::uint64_t max_jobs, Bytes max_bytes) : max_jobs_(max_jobs), max_bytes_(max_bytes) {}

  /// Whether `bytes` more of payload fit. An empty queue takes any one job.
  bool HasRoomFor(std::uint64_t bytes) const;
  /// To the end. The caller has asked HasRoomFor.
  void Push(Job& job);
  /// Back to the front, where a job goes that had its turn already; never refused.
  void PushFront(Job& job);
  void Remove(Job& job);
  Job* Front() const { return jobs_.empty() ? nullptr : jobs_.begin()->second; }
  /// A job whose deadline is `now` or earlier, or null.
  Job* Expired(TimePoint now) const;
  std::optional<TimePoint> NextDeadline() const;

  std::uint64_t size() const { return jobs_.size(); }
  bool empty() const { return jobs_.empty(); }
  std::uint64_t bytes() const { return bytes_; }

  /// What a job counts here: its payloads and what its own books take.
  static std::uint64_t BytesOf(const Job& job);

 private:
  void Insert(Job& job, std::int64_t order);

  std::uint64_t max_jobs_;
  Bytes max_bytes_;
  std::map<std::int64_t, Job*> jobs_;
  std::set<std::pair<TimePoint, std::int64_t>> deadlines_;
  std::int64_t next_back_ = 1;
  std::int64_t next_front_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace skerry::broker
