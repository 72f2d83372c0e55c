#include "broker/dispatch_queue.h"

namespace skerry::broker {
namespace {

// A Job, its map entries and its header strings; measured near 700 bytes with a short id.
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
  Insert(job, next_back_++);
}

void DispatchQueue::PushFront(Job& job) {
  Insert(job, next_front_--);
}

void DispatchQueue::Insert(Job& job, std::int64_t order) {
  job.order = order;
  Line& line = lines_[job.session];
  const bool first = line.jobs.empty() || order < line.jobs.begin()->first;
  if (first && !line.held) {
    if (!line.jobs.empty()) ready_.erase(line.jobs.begin()->first);
    ready_.emplace(order, &job);
  }
  line.jobs.emplace(order, &job);
  if (job.deadline) deadlines_.emplace(std::pair(*job.deadline, order), &job);
  ++size_;
  bytes_ += BytesOf(job);
}

void DispatchQueue::Remove(Job& job) {
  const auto found = lines_.find(job.session);
  if (found == lines_.end() || found->second.jobs.erase(job.order) == 0) return;
  if (job.deadline) deadlines_.erase({*job.deadline, job.order});
  --size_;
  bytes_ -= BytesOf(job);
  Line& line = found->second;
  if (ready_.erase(job.order) > 0 && !line.jobs.empty()) ready_.insert(*line.jobs.begin());
  if (!line.jobs.empty()) return;
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
  ready_.erase(found->second.jobs.begin()->first);
}

void DispatchQueue::Release(const Session& session) {
  const auto found = lines_.find(&session);
  if (found == lines_.end() || !found->second.held) return;
  found->second.held = false;
  --held_;
  ready_.insert(*found->second.jobs.begin());
}

void DispatchQueue::ReleaseAll() {
  for (auto& [session, line] : lines_) {
    if (line.held) ready_.insert(*line.jobs.begin());
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
