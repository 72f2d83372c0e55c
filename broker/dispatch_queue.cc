#include "broker/dispatch_queue.h"

namespace skerry::broker {
namespace {

// A Job, its map entries and its header strings; measured near 700 bytes with a short id.
constexpr std::uint64_t kBytesPerJob = 1024;

}  // namespace

std::uint64_t DispatchQueue::BytesOf(const Job& job) {
  std::uint64_t bytes = kBytesPerJob;
  for (const Payload& payload : job.payloads) bytes += payload.size();
  return bytes;
}

bool DispatchQueue::HasRoomFor(std::uint64_t bytes) const {
  if (jobs_.empty()) return true;
  return jobs_.size() < max_jobs_ && bytes_ + bytes + kBytesPerJob <= max_bytes_.count();
}

void DispatchQueue::Push(Job& job) {
  Insert(job, next_back_++);
}

void DispatchQueue::PushFront(Job& job) {
  Insert(job, next_front_--);
}

void DispatchQueue::Insert(Job& job, std::int64_t order) {
  job.order = order;
  jobs_.emplace(order, &job);
  if (job.deadline) deadlines_.emplace(*job.deadline, order);
  bytes_ += BytesOf(job);
}

void DispatchQueue::Remove(Job& job) {
  if (jobs_.erase(job.order) == 0) return;
  if (job.deadline) deadlines_.erase({*job.deadline, job.order});
  bytes_ -= BytesOf(job);
}

Job* DispatchQueue::Expired(TimePoint now) const {
  if (deadlines_.empty() || deadlines_.begin()->first > now) return nullptr;
  return jobs_.at(deadlines_.begin()->second);
}

std::optional<TimePoint> DispatchQueue::NextDeadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

}  // namespace skerry::broker
