#include "broker/dispatch_queue.h"

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
  Count(job, next_front_--);
  Relink(job);
}

void DispatchQueue::Relink(Job& job) {
  Line& line = lines_[job.session];
  const Job* first = line.first;
  Job* before = nullptr;
  Job* after = line.first;
  while (after != nullptr && after->order < job.order) {
    before = after;
    after = after->behind;
  }
  job.ahead = before;
  job.behind = after;
  (before == nullptr ? line.first : before->behind) = &job;
  (after == nullptr ? line.last : after->ahead) = &job;
  if (before == nullptr) MoveTurn(first, line);
}

void DispatchQueue::Count(Job& job, std::int64_t order) {
  job.order = order;
  if (job.deadline != Job::kNever) deadlines_.emplace(std::pair(job.deadline, order), &job);
  ++size_;
  bytes_ += AddBytes(job);
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

void DispatchQueue::Unlink(Job& job) {
  const auto found = lines_.find(job.session);
  Line& line = found->second;
  const bool first = line.first == &job;
  (first ? line.first : job.ahead->behind) = job.behind;
  (line.last == &job ? line.last : job.behind->ahead) = job.ahead;
  if (first) MoveTurn(&job, line);
  job.ahead = job.behind = nullptr;
  if (line.first != nullptr) return;
  if (line.held) --held_;
  lines_.erase(found);
}

void DispatchQueue::Remove(Job& job) {
  if (job.order == 0) return;
  if (job.parked) {
    DropParked(job);
  } else {
    Unlink(job);
  }
  if (job.deadline != Job::kNever) deadlines_.erase({job.deadline, job.order});
  job.order = 0;
  --size_;
  bytes_ -= DropBytes(job);
}

void DispatchQueue::Park(Job& job) {
  Unlink(job);
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
      Relink(*job);
      job = next;
    }
    list = parked_.erase(list);
  }
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
