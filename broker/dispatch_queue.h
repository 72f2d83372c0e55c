// The jobs that wait for a worker: a line per session, merged in the order of their coming, bounded by number
// and by bytes, with queue deadlines.
//
// A line is linked through its jobs, and of all the lines only the firsts are sorted: a job that waits costs
// no memory here, and coming and going the logarithm of the number of sessions.
//
// A session that is held back takes its whole line out of the merge and puts it back later, each at the price
// of one map entry: what the others' dispatch costs does not grow with the jobs held.
//
// A job whose libraries no worker has now is parked: out of its line, so that those behind it have their
// turn, and back in its place when such a worker comes. It counts and expires as any other.
//
// Code that queued jobs of one program share is counted once.
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

#include "broker/job.h"
#include "common/units.h"

namespace skerry::broker {

class DispatchQueue {
 public:
  DispatchQueue(std::uint64_t max_jobs, Bytes max_bytes) : max_jobs_(max_jobs), max_bytes_(max_bytes) {}

  enum class Code : bool { kOwn, kShared };

  /// Whether a job with these fits. An empty queue takes any one job.
  bool HasRoomFor(const Payload& code, const Payload& input, Code kind) const;
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

  /// The first job of all sessions that are not held back, or null.
  Job* Front() const { return ready_.empty() ? nullptr : ready_.begin()->second; }
  /// The first job of a session whose first comes after `order`.
  Job* FrontAfter(std::int64_t order) const;
  /// Takes the session's jobs out of turn. They keep their places and their deadlines.
  void Hold(const Session& session);
  void Release(const Session& session);
  void ReleaseAll();
  std::size_t held() const { return held_; }

  /// A job whose deadline is `now` or earlier, held back or not, or null.
  Job* Expired(TimePoint now) const;
  std::optional<TimePoint> NextDeadline() const;

  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::uint64_t bytes() const { return bytes_; }

  /// A job and its header strings: measured near 350 bytes with short names, and each name may have 256.
  static constexpr std::uint64_t kBytesPerJob = 1024;

 private:
  struct Line {  // linked through its jobs, by their order
    Job* first = nullptr;
    Job* last = nullptr;
    bool held = false;
  };

  void Count(Job& job, std::int64_t order);
  /// What its payloads count here, coming and going.
  std::uint64_t AddBytes(const Job& job);
  std::uint64_t DropBytes(const Job& job);
  /// Out of its line, which may be gone then.
  void Unlink(Job& job);
  /// Where its order says.
  void Relink(Job& job);
  void DropParked(Job& job);
  /// The line's turn is now that of its first job, where it was that of `before`.
  void MoveTurn(const Job* before, const Line& line);

  std::uint64_t max_jobs_;
  Bytes max_bytes_;
  std::unordered_map<const Session*, Line> lines_;  // none is empty
  std::map<std::int64_t, Job*> ready_;              // the first of each line that is not held
  std::map<std::pair<TimePoint, std::int64_t>, Job*> deadlines_;
  std::map<LibraryNames, Job*> parked_;                     // by libraries, sorted: the first of a list
  std::unordered_map<const void*, std::uint64_t> sharers_;  // of a program's code: how many jobs
  std::size_t parked_count_ = 0;
  std::size_t held_ = 0;
  std::int64_t next_back_ = 1;
  std::int64_t next_front_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace skerry::broker
