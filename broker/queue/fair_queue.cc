#include "broker/queue/fair_queue.h"

#include <algorithm>

namespace skerry::broker {
namespace {

// A weight of 1,000 still tells microseconds apart; 2^64 of these are centuries of CPU time.
constexpr std::int64_t kPerMicro = 1024;

std::uint64_t Moved(std::uint64_t from, std::int64_t by) {
  if (by >= 0) return from + static_cast<std::uint64_t>(by);
  return from - std::min(from, static_cast<std::uint64_t>(-by));
}

/// The entry keeps its memory: most that move come back at once.
template <class Map>
void Rekey(Map& map, const typename Map::key_type& from, const typename Map::key_type& to) {
  auto entry = map.extract(from);
  entry.key() = to;
  map.insert(std::move(entry));
}

template <class Idle>
bool ForgetsFirst(const Idle& idle, std::uint64_t beginning) {
  return !idle.empty() && (idle.begin()->first.first <= beginning || idle.size() > FairQueue::kMaxIdle);
}

}  // namespace

std::size_t FairQueue::LineHash::operator()(const LineKey& key) const {
  const std::hash<const void*> hash;
  return (hash(key.session) * 0x9e3779b97f4a7c15ull + hash(key.account)) * 0x9e3779b97f4a7c15ull +
         static_cast<std::uint8_t>(key.priority);
}

FairQueue::LineKey FairQueue::KeyOf(const Job& job) {
  return {job.session, job.account ? &*job.account : nullptr, job.priority};
}

FairTenant& FairQueue::TenantOf(const TenantId& id) {
  const auto [found, fresh] = tenants_.try_emplace(id);
  FairTenant& tenant = found->second;
  if (fresh) {
    tenant.id = id;
    tenant.share = share_of_(id);
    tenant.tag = {0, next_serial_++};  // until it begins to wait
  } else if (tenant.queued == 0 && tenant.running == 0) {
    idle_.erase(tenant.tag);
  }
  return tenant;
}

FairUser& FairQueue::UserOf(FairTenant& tenant, const UserId& id) {
  const auto [found, fresh] = tenant.users.try_emplace(id);
  FairUser& user = found->second;
  if (fresh) {
    user.id = id;
    user.tenant = &tenant;
    user.tag = {0, next_serial_++};
  } else if (user.lines == 0 && user.running == 0) {
    tenant.idle_users.erase(user.tag);
  }
  return user;
}

FairLine& FairQueue::LineOf(const Job& job) {
  std::unique_ptr<FairLine>& line = lines_[KeyOf(job)];
  if (line != nullptr) return *line;
  const Account& account = AccountOf(job);
  line = std::make_unique<FairLine>();
  line->user = &UserOf(TenantOf(account.tenant), account.user);
  ++line->user->lines;
  line->session = job.session;
  line->account = KeyOf(job).account;
  line->priority = job.priority;
  OfSession& of_session = sessions_[job.session];
  line->held = of_session.held;
  line->next_of_session = of_session.first;
  if (of_session.first != nullptr) of_session.first->previous_of_session = line.get();
  of_session.first = line.get();
  if (line->held) {
    ++held_;
  } else {
    BeginWaiting(*line);
  }
  return *line;
}

void FairQueue::Link(Job& job) {
  FairLine& line = LineOf(job);
  // From the end that is nearer: new jobs go to the back, those that come again to the front.
  Job* before = line.last;
  if (before != nullptr && before->order > job.order) {
    before = nullptr;
    for (Job* at = line.first; at->order < job.order; at = at->behind) before = at;
  }
  Job* after = before == nullptr ? line.first : before->behind;
  const bool shown = !line.held && !line.aside;
  if (shown && line.first != nullptr && before == nullptr)
    Rekey(line.user->ready.at(line.priority), line.first->order, job.order);
  const bool fresh = line.first == nullptr;
  job.ahead = before;
  job.behind = after;
  (before == nullptr ? line.first : before->behind) = &job;
  (after == nullptr ? line.last : after->ahead) = &job;
  if (fresh && shown) Show(line);
}

void FairQueue::Unlink(Job& job) {
  FairLine& line = *lines_.find(KeyOf(job))->second;
  if (line.first == &job && !line.held && !line.aside) {
    if (job.behind == nullptr) {
      Hide(line);
    } else {
      Rekey(line.user->ready.at(line.priority), job.order, job.behind->order);
    }
  }
  (line.first == &job ? line.first : job.ahead->behind) = job.behind;
  (line.last == &job ? line.last : job.behind->ahead) = job.ahead;
  job.ahead = job.behind = nullptr;
  if (line.first == nullptr) Drop(line);
}

void FairQueue::Drop(FairLine& line) {
  FairUser& user = *line.user;
  if (line.held) {
    --held_;
  } else {
    EndWaiting(line);
  }
  if (line.aside) std::erase(aside_, &line);
  const auto of_session = sessions_.find(line.session);
  FairLine* next = line.next_of_session;
  FairLine* previous = line.previous_of_session;
  (previous == nullptr ? of_session->second.first : previous->next_of_session) = next;
  if (next != nullptr) next->previous_of_session = previous;
  if (of_session->second.first == nullptr) sessions_.erase(of_session);
  lines_.erase({line.session, line.account, line.priority});
  --user.lines;
  Tidy(user);
}

void FairQueue::BeginWaiting(FairLine& line) {
  FairUser& user = *line.user;
  FairTenant& tenant = *user.tenant;
  if (user.waiting++ > 0) return;
  user.tag.first = std::max(user.tag.first, Beginning(tenant));
  if (tenant.waiting++ == 0) tenant.tag.first = std::max(tenant.tag.first, Beginning());
}

std::uint64_t FairQueue::Beginning() const {
  return next_.LeastCharged(floor_);
}

std::uint64_t FairQueue::Beginning(const FairTenant& tenant) {
  std::uint64_t least = tenant.user_floor;
  for (const auto& [priority, users] : tenant.bands) least = users.LeastCharged(least);
  return least;
}

void FairQueue::EndWaiting(FairLine& line) {
  FairUser& user = *line.user;
  if (--user.waiting == 0) --user.tenant->waiting;
}

void FairQueue::Show(FairLine& line) {
  FairUser& user = *line.user;
  auto& lines = user.ready[line.priority];
  if (lines.empty()) user.tenant->bands[line.priority].Insert(user);
  lines.emplace(line.first->order, &line);
  Refresh(*user.tenant);
}

void FairQueue::Hide(FairLine& line) {
  FairUser& user = *line.user;
  FairTenant& tenant = *user.tenant;
  const auto lines = user.ready.find(line.priority);
  lines->second.erase(line.first->order);
  if (!lines->second.empty()) return;
  user.ready.erase(lines);
  const auto band = tenant.bands.find(line.priority);
  band->second.Erase(user);
  if (band->second.empty()) tenant.bands.erase(band);
  Refresh(tenant);
}

void FairQueue::Refresh(FairTenant& tenant) {
  const bool may = !tenant.bands.empty() && tenant.running < tenant.share.max_running;
  if (may == tenant.listed) return;
  if (may) {
    next_.Insert(tenant);
  } else {
    next_.Erase(tenant);
  }
  tenant.listed = may;
}

std::int64_t FairQueue::Bounded(const FairTenant& tenant, std::int64_t cost_us) const {
  const auto weight = static_cast<std::int64_t>(tenant.share.weight);
  const auto behind = static_cast<std::int64_t>(tenant.tag.first - Beginning()) / kPerMicro * weight;
  const std::int64_t most = kMostBehindUs * static_cast<std::int64_t>(running_ + 1) * weight;
  return std::min(cost_us, std::max<std::int64_t>(most - behind, 0));
}

void FairQueue::Charge(FairTenant& tenant, std::int64_t cost_us, std::int64_t slots) {
  const std::int64_t by = cost_us * kPerMicro / static_cast<std::int64_t>(tenant.share.weight);
  const FairTag tag = {Moved(tenant.tag.first, by), tenant.tag.second};
  const std::uint64_t running = Moved(tenant.running, slots);
  if (tenant.listed) next_.Rekey(tenant, tag, running);
  tenant.tag = tag;
  tenant.running = running;
}

void FairQueue::Charge(FairUser& user, std::int64_t cost_us, std::int64_t slots) {
  const FairTag tag = {Moved(user.tag.first, cost_us * kPerMicro), user.tag.second};
  const std::uint64_t running = Moved(user.running, slots);
  for (const auto& [priority, lines] : user.ready) user.tenant->bands.at(priority).Rekey(user, tag, running);
  user.tag = tag;
  user.running = running;
}

void FairQueue::Tidy(FairUser& user) {
  if (user.lines > 0 || user.running > 0) return;
  FairTenant& tenant = *user.tenant;
  tenant.idle_users.emplace(user.tag, &user);
  while (ForgetsFirst(tenant.idle_users, Beginning(tenant))) {
    const auto gone = tenant.users.find(tenant.idle_users.begin()->second->id);
    tenant.idle_users.erase(tenant.idle_users.begin());
    tenant.users.erase(gone);
  }
}

void FairQueue::Tidy(FairTenant& tenant) {
  if (tenant.queued == 0 && tenant.running == 0) idle_.emplace(tenant.tag, &tenant);
  while (ForgetsFirst(idle_, Beginning())) {
    const auto gone = tenants_.find(idle_.begin()->second->id);
    idle_.erase(idle_.begin());
    tenants_.erase(gone);
  }
}

void FairQueue::Unqueue(FairTenant& tenant, std::uint64_t bytes) {
  // What jobs share counts for the one that brought it, and is dropped with the last.
  tenant.queued_bytes = --tenant.queued == 0 ? 0 : tenant.queued_bytes - std::min(tenant.queued_bytes, bytes);
}

void FairQueue::Add(Job& job, std::uint64_t bytes) {
  Link(job);
  FairTenant& tenant = *lines_.find(KeyOf(job))->second->user->tenant;
  ++tenant.queued;
  tenant.queued_bytes += bytes;
}

void FairQueue::Remove(Job& job, std::uint64_t bytes) {
  FairTenant& tenant = *lines_.find(KeyOf(job))->second->user->tenant;
  Unlink(job);
  Unqueue(tenant, bytes);
  Tidy(tenant);
}

void FairQueue::Park(Job& job) {
  Unlink(job);
}

void FairQueue::Unpark(Job& job) {
  Link(job);
}

void FairQueue::ForgetParked(const Job& job, std::uint64_t bytes) {
  FairTenant& tenant = tenants_.at(AccountOf(job).tenant);
  Unqueue(tenant, bytes);
  Tidy(tenant);
}

Job* FairQueue::FrontOf(const FairTenant& tenant) const {
  Job* best = nullptr;
  TimePoint best_since;
  for (const auto& [priority, users] : tenant.bands) {
    Job* job = users.Next()->ready.at(priority).begin()->second->first;
    // As if it had come so much earlier.
    const TimePoint since = job->queued_since - priority * ageing_;
    if (best != nullptr && since > best_since) continue;  // of equals the higher priority, which comes later
    best = job;
    best_since = since;
  }
  return best;
}

Job* FairQueue::Front() const {
  const FairTenant* next = next_.Next();
  return next == nullptr ? nullptr : FrontOf(*next);
}

void FairQueue::Start(Job& job, std::uint64_t cost_us, std::uint64_t bytes) {
  FairUser& user = *lines_.find(KeyOf(job))->second->user;
  FairTenant& tenant = *user.tenant;
  floor_ = std::max(floor_, tenant.tag.first);
  tenant.user_floor = std::max(tenant.user_floor, user.tag.first);
  const std::int64_t charged = Bounded(tenant, static_cast<std::int64_t>(cost_us));
  Charge(user, charged, 1);
  Charge(tenant, charged, 1);
  job.lease->user = &user;
  job.lease->charged_us = static_cast<std::uint64_t>(charged);
  ++running_;
  Unqueue(tenant, bytes);
  Unlink(job);
  Refresh(tenant);
}

void FairQueue::Stop(const Job& job, std::uint64_t cost_us) {
  if (job.lease == nullptr || job.lease->user == nullptr) return;
  FairUser& user = *job.lease->user;
  FairTenant& tenant = *user.tenant;
  --running_;
  const auto more =
      Bounded(tenant, static_cast<std::int64_t>(cost_us) - static_cast<std::int64_t>(job.lease->charged_us));
  Charge(user, more, -1);
  Charge(tenant, more, -1);
  Refresh(tenant);
  Tidy(user);
  Tidy(tenant);
}

void FairQueue::SetAside(Job& job) {
  FairLine& line = *lines_.find(KeyOf(job))->second;
  Hide(line);
  line.aside = true;
  aside_.push_back(&line);
}

void FairQueue::PutBack() {
  for (FairLine* line : aside_) {
    line->aside = false;
    Show(*line);
  }
  aside_.clear();
}

void FairQueue::Hold(FairLine& line) {
  if (line.held) return;
  if (line.aside) {
    std::erase(aside_, &line);
    line.aside = false;
  } else {
    Hide(line);
  }
  EndWaiting(line);
  line.held = true;
  ++held_;
}

void FairQueue::Hold(const Session& session) {
  const auto found = sessions_.find(&session);
  if (found == sessions_.end()) return;
  found->second.held = true;
  for (FairLine* line = found->second.first; line != nullptr; line = line->next_of_session) Hold(*line);
}

void FairQueue::Release(OfSession& of_session) {
  if (!std::exchange(of_session.held, false)) return;
  for (FairLine* line = of_session.first; line != nullptr; line = line->next_of_session) {
    line->held = false;
    --held_;
    BeginWaiting(*line);
    Show(*line);
  }
}

void FairQueue::Release(const Session& session) {
  const auto found = sessions_.find(&session);
  if (found != sessions_.end()) Release(found->second);
}

void FairQueue::ReleaseAll() {
  for (auto& [session, of_session] : sessions_) Release(of_session);
}

std::uint64_t FairQueue::QueuedOf(const TenantId& tenant) const {
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() ? 0 : found->second.queued;
}

std::uint64_t FairQueue::QueuedBytesOf(const TenantId& tenant) const {
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() ? 0 : found->second.queued_bytes;
}

std::uint64_t FairQueue::RunningOf(const TenantId& tenant) const {
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() ? 0 : found->second.running;
}

void FairQueue::Reshare() {
  for (auto& [id, tenant] : tenants_) {
    if (std::exchange(tenant.listed, false)) next_.Erase(tenant);
    tenant.share = share_of_(id);
    Refresh(tenant);
  }
}

}  // namespace skerry::broker
