#include "broker/dispatch_queue.h"

#include <algorithm>

namespace skerry::broker {
namespace {

LibraryNames Sorted(std::span<const std::string> names) {
  LibraryNames sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

const TenantId& TenantOf(const Job& job) {
  static const TenantId kNone;
  return job.account ? job.account->tenant : kNone;
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
  const auto held = held_.find(tenant);
  if (held == held_.end() || held->second.jobs == 0) return true;
  const std::uint64_t jobs_free = max_jobs_ - std::min(max_jobs_, size_);
  const std::uint64_t bytes_free = max_bytes_.count() - std::min(max_bytes_.count(), bytes_);
  return held->second.jobs < kTimesFree * jobs_free && held->second.bytes < kTimesFree * bytes_free;
}

void DispatchQueue::Push(Job& job) {
  Count(job, next_back_++);
  fair_.Add(job);
}

void DispatchQueue::PushFront(Job& job) {
  Count(job, next_front_--);
  fair_.Add(job);
}

void DispatchQueue::Count(Job& job, std::int64_t order) {
  job.order = order;
  if (job.deadline != Job::kNever) deadlines_.emplace(std::pair(job.deadline, order), &job);
  const std::uint64_t bytes = AddBytes(job);
  Held& held = held_[TenantOf(job)];
  ++held.jobs;
  held.bytes += bytes;
  ++size_;
  bytes_ += bytes;
}

void DispatchQueue::Discount(Job& job) {
  if (job.deadline != Job::kNever) deadlines_.erase({job.deadline, job.order});
  job.order = 0;
  const std::uint64_t bytes = DropBytes(job);
  const auto held = held_.find(TenantOf(job));
  // Code that jobs of several tenants' share counts for the one that brought it, and is dropped with the
  // last.
  held->second.bytes -= std::min(held->second.bytes, bytes);
  if (--held->second.jobs == 0) {
    held->second.bytes = 0;
    // Whose last job goes has another one soon, most of the time.
    if (held_.size() > FairQueue::kMaxIdle) held_.erase(held);
  }
  --size_;
  bytes_ -= bytes;
}

void DispatchQueue::Remove(Job& job) {
  if (job.order == 0) return;
  if (job.parked) {
    DropParked(job);
    fair_.ForgetParked(job);
  } else {
    fair_.Remove(job);
  }
  Discount(job);
}

void DispatchQueue::Start(Job& job, std::uint64_t cost_us) {
  fair_.Start(job, cost_us);
  Discount(job);
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
