#include "broker/workers/worker_registry.h"

#include <algorithm>
#include <utility>

namespace skerry::broker {
namespace {

WorkerSums ShareOf(const Worker& worker) {
  const auto left = [](std::uint64_t all, std::uint64_t used) { return all > used ? all - used : 0; };
  WorkerSums share;
  share.workers = 1;
  share.slots_used = worker.used_slots();
  share.memory_promised_mb = worker.used_memory_mb();
  share.spares = worker.stats().spares;
  share.cells = worker.stats().cells;
  if (!worker.accepting() || worker.credit().slots == 0) return share;
  share.accepting = 1;
  share.slots_free = left(worker.credit().slots, worker.used_slots());
  share.memory_free_mb = left(worker.credit().memory_mb, worker.used_memory_mb());
  return share;
}

template <class Key>
void Discount(std::map<Key, std::uint64_t>& counts, const Key& key) {
  const auto found = counts.find(key);
  if (found != counts.end() && --found->second == 0) counts.erase(found);
}

}  // namespace

void WorkerRegistry::LeaveRoom(Worker& worker) {
  sums_ -= ShareOf(worker);
  const auto place = std::exchange(worker.place_, WorkerIndex::kNowhere);
  if (place != WorkerIndex::kNowhere) worker.crowd_->second.index.Remove(place);
}

void WorkerRegistry::EnterRoom(Worker& worker) {
  sums_ += ShareOf(worker);
  if (!worker.accepting() || worker.used_slots() >= worker.credit_.slots) return;
  // May be less than nothing: a credit is lowered while jobs run.
  auto free_mb = static_cast<std::int64_t>(worker.credit_.memory_mb - worker.used_memory_mb_);
  if (free_mb > 0 && static_cast<std::uint64_t>(free_mb) > worker.most_of_job_mb_)
    free_mb = static_cast<std::int64_t>(worker.most_of_job_mb_);
  worker.place_ = worker.crowd_->second.index.Add(
      worker, {worker.used_slots(), worker.credit_.slots, free_mb}, next_turn_++);
}

void WorkerRegistry::Leave(Worker& worker) {
  LeaveRoom(worker);
  if (worker.accepting()) {
    Discount(worker.crowd_->second.offers, worker.largest_job_mb());
    --accepting_;
  }
  Discount(builds_, worker.build_);
}

void WorkerRegistry::Enter(Worker& worker) {
  EnterRoom(worker);
  if (worker.accepting()) {
    ++worker.crowd_->second.offers[worker.largest_job_mb()];
    ++accepting_;
  }
  ++builds_[worker.build_];
}

void WorkerRegistry::SetKind(Worker& worker, WorkerKind kind) {
  for (const std::string& library : kind.libraries) seen_libraries_.Add(library);
  auto& crowd = *crowds_.try_emplace(std::move(kind)).first;
  ++crowd.second.workers;
  worker.crowd_ = &crowd;
}

void WorkerRegistry::LeaveKind(Worker& worker) {
  auto& crowd = *std::exchange(worker.crowd_, nullptr);
  if (--crowd.second.workers == 0) crowds_.erase(crowds_.find(crowd.first));
}

Worker& WorkerRegistry::Connect(const SessionId& session, const Peer& link, TimePoint now) {
  std::unique_ptr<Worker>& known = workers_[session];
  if (known == nullptr) {
    known = std::make_unique<Worker>();
    known->session = session;
    known->since = now;
    SetKind(*known, {});
  } else {
    Leave(*known);
    links_.erase(known->link);
  }
  Worker& worker = *known;
  worker.link = link;
  worker.state_ = Next(worker.state_, WorkerEvent::kHello).value_or(WorkerState::kServing);
  worker.last_heard = now;
  links_[link] = &worker;
  Enter(worker);
  return worker;
}

Worker* WorkerRegistry::Find(const Peer& link) {
  const auto found = links_.find(link);
  return found == links_.end() ? nullptr : found->second;
}

Worker* WorkerRegistry::Find(const SessionId& session) const {
  const auto found = workers_.find(session);
  return found == workers_.end() ? nullptr : found->second.get();
}

std::vector<const Worker*> WorkerRegistry::After(const SessionId& after, std::size_t most) const {
  std::vector<const Worker*> found;
  for (auto at = workers_.upper_bound(after); at != workers_.end() && found.size() < most; ++at)
    found.push_back(at->second.get());
  return found;
}

void WorkerRegistry::Erase(Worker& worker) {
  Leave(worker);
  LeaveKind(worker);
  links_.erase(worker.link);
  // A copy: erasing by a reference into the erased record would read freed memory.
  const SessionId session = worker.session;
  workers_.erase(session);
}

void WorkerRegistry::Introduce(Worker& worker, WorkerBuild build, WorkerKind kind, Credit credit,
                               std::uint64_t most_of_job_mb) {
  Leave(worker);
  LeaveKind(worker);
  SetKind(worker, std::move(kind));
  worker.build_ = std::move(build);
  worker.credit_ = credit;
  worker.full_memory_mb_ = credit.memory_mb;
  worker.most_of_job_mb_ = most_of_job_mb;
  Enter(worker);
}

void WorkerRegistry::SetCredit(Worker& worker, Credit credit) {
  Leave(worker);
  worker.credit_ = credit;
  worker.full_memory_mb_ = std::max(worker.full_memory_mb_, credit.memory_mb);
  Enter(worker);
}

bool WorkerRegistry::Advance(Worker& worker, WorkerEvent event) {
  const auto next = Next(worker.state_, event);
  if (!next) return false;
  Leave(worker);
  worker.state_ = *next;
  Enter(worker);
  return true;
}

void WorkerRegistry::SetDrain(Worker& worker, OperatorDrain drain) {
  Leave(worker);
  worker.by_operator_ = drain;
  Enter(worker);
}

void WorkerRegistry::SetStats(Worker& worker, const WorkerStats& stats) {
  sums_ -= ShareOf(worker);
  worker.stats_ = stats;
  sums_ += ShareOf(worker);
}

void WorkerRegistry::Take(Worker& worker, Job& job, LeaseId id) {
  LeaveRoom(worker);
  job.lease = std::make_unique<Lease>();
  job.lease->worker = &worker;
  job.lease->id = id;
  worker.leases_[id] = &job;
  ++worker.given;
  worker.used_memory_mb_ += job.memory_mb;
  EnterRoom(worker);
}

void WorkerRegistry::Release(Job& job) {
  if (job.lease == nullptr) return;
  Worker& worker = *job.lease->worker;
  LeaveRoom(worker);
  if (worker.leases_.erase(job.lease->id) > 0) worker.used_memory_mb_ -= job.memory_mb;
  EnterRoom(worker);
  job.lease.reset();
}

Worker* WorkerRegistry::PickFor(const Need& need) const {
  const WorkerIndex::Entry* best = nullptr;
  for (const auto& [kind, crowd] : crowds_) {
    if (!kind.Serves(need)) continue;
    const WorkerIndex::Entry* one = crowd.index.Best(need.memory_mb);
    if (one != nullptr && (best == nullptr || WorkerIndex::Before(*one, *best))) best = one;
  }
  return best == nullptr ? nullptr : best->worker;
}

bool WorkerRegistry::HasPlaceBeside(Worker& worker, const Need& need) {
  if (worker.used_slots() + 2 <= worker.credit_.slots &&
      worker.used_memory_mb_ + 2 * need.memory_mb <= worker.credit_.memory_mb)
    return true;
  LeaveRoom(worker);
  const bool elsewhere = PickFor(need) != nullptr;
  EnterRoom(worker);
  return elsewhere;
}

std::uint64_t WorkerRegistry::LargestMemoryMb(const Need& need) const {
  std::uint64_t largest = 0;
  for (const auto& [kind, crowd] : crowds_) {
    if (!crowd.offers.empty() && kind.Serves(need)) largest = std::max(largest, crowd.offers.rbegin()->first);
  }
  return largest;
}

bool WorkerRegistry::AnyFreeSlotFor(const Need& need) const {
  return std::any_of(crowds_.begin(), crowds_.end(), [&](const auto& entry) {
    return !entry.second.index.empty() && entry.first.Serves(need);
  });
}

std::set<std::string> WorkerRegistry::Libraries() const {
  std::set<std::string> all;
  for (const auto& [kind, crowd] : crowds_) all.insert(kind.libraries.begin(), kind.libraries.end());
  return all;
}

bool WorkerRegistry::OneHasAll(std::span<const std::string> libraries) const {
  return std::any_of(crowds_.begin(), crowds_.end(),
                     [&](const auto& entry) { return HasAll(entry.first.libraries, libraries); });
}

const std::string* WorkerRegistry::NeverSeen(std::span<const std::string> libraries) const {
  for (const std::string& library : libraries) {
    if (!seen_libraries_.Contains(library) && !OneHasAll({&library, 1})) return &library;
  }
  return nullptr;
}

std::vector<Worker*> WorkerRegistry::All() {
  std::vector<Worker*> all;
  all.reserve(workers_.size());
  for (auto& [session, worker] : workers_) all.push_back(worker.get());
  return all;
}

}  // namespace skerry::broker
