#include "broker/queue/dispatch_queue.h"

#include <algorithm>

namespace skerry::broker {
namespace {

LibraryNames Sorted(std::span<const std::string> names) {
  LibraryNames sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

std::uint64_t DispatchQueue::AddBytes(const Job& job) {
  const auto& [code, input] = job.payloads;
  const bool counted = job.is_program() && code.size() > 0 && ++sharers_[code.identity()] > 1;
  return kBytesPerJob + input.size() + (counted ? 0 : code.size());
}

std::uint64_t DispatchQueue::DropBytes(const Job& job) {
  const auto& [code, input] = job.payloads;
  const std::uint64_t own = kBytesPerJob + input.size();
  if (!job.is_program() || code.size() == 0) return own + code.size();
  const auto sharers = sharers_.find(code.identity());
  if (--sharers->second > 0) return own;
  sharers_.erase(sharers);
  return own + code.size();
}

bool DispatchQueue::HasRoomFor(const Payload& code, const Payload& input, Code kind) const {
  if (empty()) return true;
  const bool counted = kind == Code::kShared && sharers_.contains(code.identity());
  const std::uint64_t bytes = input.size() + (counted ? 0 : code.size());
  return size_ < max_jobs_ && bytes_ + bytes + kBytesPerJob <= max_bytes_.count();
}

bool DispatchQueue::LeavesRoom(const TenantId& tenant) const {
  const std::uint64_t jobs = fair_.QueuedOf(tenant);
  const std::uint64_t jobs_free = max_jobs_ - std::min(max_jobs_, size_);
  const std::uint64_t bytes_free = max_bytes_.count() - std::min(max_bytes_.count(), bytes_);
  return jobs == 0 ||
         (jobs < kTimesFree * jobs_free && fair_.QueuedBytesOf(tenant) < kTimesFree * bytes_free);
}

void DispatchQueue::Push(Job& job) {
  Enter(job, next_back_++);
}

void DispatchQueue::PushFront(Job& job) {
  Enter(job, next_front_--);
}

void DispatchQueue::Enter(Job& job, std::int64_t order) {
  job.order = order;
  if (job.deadline != Job::kNever) deadlines_.emplace(std::pair(job.deadline, order), &job);
  const std::uint64_t bytes = AddBytes(job);
  ++size_;
  bytes_ += bytes;
  fair_.Add(job, bytes);
}

void DispatchQueue::Discount(Job& job, std::uint64_t bytes) {
  if (job.deadline != Job::kNever) deadlines_.erase({job.deadline, job.order});
  job.order = 0;
  --size_;
  bytes_ -= bytes;
}

void DispatchQueue::Remove(Job& job) {
  if (job.order == 0) return;
  const std::uint64_t bytes = DropBytes(job);
  if (job.parked) {
    DropParked(job);
    fair_.ForgetParked(job, bytes);
  } else {
    fair_.Remove(job, bytes);
  }
  Discount(job, bytes);
}

void DispatchQueue::Start(Job& job, std::uint64_t cost_us) {
  const std::uint64_t bytes = DropBytes(job);
  fair_.Start(job, cost_us, bytes);
  Discount(job, bytes);
}

void DispatchQueue::Park(Job& job) {
  fair_.Park(job);
  Job*& first = parked_[Sorted(job.libraries())];
  job.behind = first;
  if (first != nullptr) first->ahead = &job;
  first = &job;
  job.parked = true;
  ++parked_count_;
}

void DispatchQueue::DropParked(Job& job) {
  if (job.behind != nullptr) job.behind->ahead = job.ahead;
  if (job.ahead != nullptr) {
    job.ahead->behind = job.behind;
  } else {
    const auto list = parked_.find(Sorted(job.libraries()));
    list->second = job.behind;
    if (job.behind == nullptr) parked_.erase(list);
  }
  job.ahead = job.behind = nullptr;
  job.parked = false;
  --parked_count_;
}

void DispatchQueue::Unpark(const std::function<bool(std::span<const std::string>)>& ready) {
  for (auto list = parked_.begin(); list != parked_.end();) {
    if (!ready(list->first)) {
      ++list;
      continue;
    }
    // The last that was parked comes first: most find their place at the front of their line.
    for (Job* job = list->second; job != nullptr;) {
      Job* next = std::exchange(job->behind, nullptr);
      job->ahead = nullptr;
      job->parked = false;
      --parked_count_;
      fair_.Unpark(*job);
      job = next;
    }
    list = parked_.erase(list);
  }
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
