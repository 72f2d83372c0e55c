#include "broker/dispatch_queue.h"

namespace skerry::broker {
namespace {

// A Job and its header strings: measured near 350 bytes with short names, and each name may have 256.
constexpr std::uint64_t kBytesPerJob = 1024;

}  // namespace

std::uint64_t DispatchQueue::BytesOf(const Job& job) {
  return kBytesPerJob + broker::BytesOf(job.payloads);
}

bool DispatchQueue::HasRoomFor(std::uint64_t bytes) const {
  if (empty()) return true;
  return size_ < max_jobs_ && bytes_ + bytes + kBytesPerJob <= max_bytes_.count();
}

void DispatchQueue::Push(Job& job) {
  Line& line = lines_[job.session];
  job.ahead = line.last;
  job.behind = nullptr;
  (line.last == nullptr ? line.first : line.last->behind) = &job;
  line.last = &job;
  Count(job, next_back_++);
  if (line.first == &job) MoveTurn(nullptr, line);
}

void DispatchQueue::PushFront(Job& job) {
  Line& line = lines_[job.session];
  const Job* before = line.first;
  job.ahead = nullptr;
  job.behind = line.first;
  (line.first == nullptr ? line.last : line.first->ahead) = &job;
  line.first = &job;
  Count(job, next_front_--);
  MoveTurn(before, line);
}

void DispatchQueue::Count(Job& job, std::int64_t order) {
  job.order = order;
  if (job.deadline != Job::kNever) deadlines_.emplace(std::pair(job.deadline, order), &job);
  ++size_;
  bytes_ += BytesOf(job);
}

void DispatchQueue::MoveTurn(const Job* before, const Line& line) {
  if (line.held) return;
  // The entry is moved rather than made anew: one of a session's next job is wanted at once.
  auto entry = before == nullptr ? std::map<std::int64_t, Job*>::node_type() : ready_.extract(before->order);
  if (line.first == nullptr) return;
  if (entry.empty()) {
    ready_.emplace(line.first->order, line.first);
    return;
  }
  entry.key() = line.first->order;
  entry.mapped() = line.first;
  ready_.insert(std::move(entry));
}

void DispatchQueue::Remove(Job& job) {
  if (job.order == 0) return;
  const auto found = lines_.find(job.session);
  Line& line = found->second;
  const bool first = line.first == &job;
  (first ? line.first : job.ahead->behind) = job.behind;
  (line.last == &job ? line.last : job.behind->ahead) = job.ahead;
  if (first) MoveTurn(&job, line);
  if (job.deadline != Job::kNever) deadlines_.erase({job.deadline, job.order});
  job.order = 0;
  job.ahead = job.behind = nullptr;
  --size_;
  bytes_ -= BytesOf(job);
  if (line.first != nullptr) return;
  if (line.held) --held_;
  lines_.erase(found);
}

Job* DispatchQueue::FrontAfter(std::int64_t order) const {
  const auto found = ready_.upper_bound(order);
  return found == ready_.end() ? nullptr : found->second;
}

void DispatchQueue::Hold(const Session& session) {
  const auto found = lines_.find(&session);
  if (found == lines_.end() || found->second.held) return;
  found->second.held = true;
  ++held_;
  ready_.erase(found->second.first->order);
}

void DispatchQueue::Release(const Session& session) {
  const auto found = lines_.find(&session);
  if (found == lines_.end() || !found->second.held) return;
  found->second.held = false;
  --held_;
  ready_.emplace(found->second.first->order, found->second.first);
}

void DispatchQueue::ReleaseAll() {
  for (auto& [session, line] : lines_) {
    if (line.held) ready_.emplace(line.first->order, line.first);
    line.held = false;
  }
  held_ = 0;
}

Job* DispatchQueue::Expired(TimePoint now) const {
  if (deadlines_.empty() || deadlines_.begin()->first.first > now) return nullptr;
  return deadlines_.begin()->second;
}

std::optional<TimePoint> DispatchQueue::NextDeadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first.first;
}

}  // namespace skerry::broker
