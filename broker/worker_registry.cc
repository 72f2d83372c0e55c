#include "broker/worker_registry.h"

#include <algorithm>

namespace skerry::broker {

Worker& WorkerRegistry::Connect(const SessionId& session, const Peer& link, TimePoint now) {
  std::unique_ptr<Worker>& worker = workers_[session];
  if (worker == nullptr) {
    worker = std::make_unique<Worker>();
    worker->session = session;
  } else {
    links_.erase(worker->link);
  }
  worker->link = link;
  worker->state = Next(worker->state, WorkerEvent::kHello).value_or(WorkerState::kServing);
  worker->last_heard = now;
  links_[link] = worker.get();
  return *worker;
}

Worker* WorkerRegistry::Find(const Peer& link) {
  const auto found = links_.find(link);
  return found == links_.end() ? nullptr : found->second;
}

void WorkerRegistry::Erase(Worker& worker) {
  links_.erase(worker.link);
  // A copy: erasing by a reference into the erased record would read freed memory.
  const SessionId session = worker.session;
  workers_.erase(session);
}

Worker* WorkerRegistry::PickFor(const JobSpec& job) {
  Worker* best = nullptr;
  for (auto& [session, worker] : workers_) {
    if (!worker->HasRoomFor(job)) continue;
    // Least loaded: used/slots compared without division.
    if (best == nullptr || worker->used_slots() * best->slots < best->used_slots() * worker->slots)
      best = worker.get();
  }
  return best;
}

bool WorkerRegistry::CouldEverTake(const JobSpec& job) const {
  return job.memory_mb <= LargestMemoryMb(job);
}

std::uint64_t WorkerRegistry::LargestMemoryMb(const JobSpec& job) const {
  std::uint64_t largest = 0;
  for (const auto& [session, worker] : workers_) {
    if (worker->accepting() && worker->Understands(job)) largest = std::max(largest, worker->full_memory_mb);
  }
  return largest;
}

bool WorkerRegistry::AnyAccepting() const {
  for (const auto& [session, worker] : workers_) {
    if (worker->accepting()) return true;
  }
  return false;
}

bool WorkerRegistry::AnyFreeSlot() const {
  for (const auto& [session, worker] : workers_) {
    if (worker->accepting() && worker->used_slots() < worker->slots) return true;
  }
  return false;
}

WorkerSums WorkerRegistry::Sums() const {
  const auto left = [](std::uint64_t all, std::uint64_t used) { return all > used ? all - used : 0; };
  WorkerSums sums;
  sums.workers = workers_.size();
  for (const auto& [session, worker] : workers_) {
    sums.slots_used += worker->used_slots();
    sums.memory_promised_mb += worker->used_memory_mb;
    sums.spares += worker->stats.spares;
    sums.cells += worker->stats.cells;
    if (!worker->accepting() || worker->slots == 0) continue;
    ++sums.accepting;
    sums.slots_free += left(worker->slots, worker->used_slots());
    sums.memory_free_mb += left(worker->memory_mb, worker->used_memory_mb);
  }
  return sums;
}

WorkerBuilds WorkerRegistry::Builds() const {
  WorkerBuilds builds;
  for (const auto& [session, worker] : workers_) ++builds[worker->build];
  return builds;
}

void WorkerRegistry::Take(Worker& worker, Job& job) {
  job.worker = &worker;
  worker.leases[job.lease] = &job;
  worker.used_memory_mb += job.spec.memory_mb;
}

void WorkerRegistry::Release(Job& job) {
  if (job.worker == nullptr) return;
  if (job.worker->leases.erase(job.lease) > 0) job.worker->used_memory_mb -= job.spec.memory_mb;
  job.worker = nullptr;
  job.lease = LeaseId();
}

std::vector<Worker*> WorkerRegistry::All() {
  std::vector<Worker*> all;
  all.reserve(workers_.size());
  for (auto& [session, worker] : workers_) all.push_back(worker.get());
  return all;
}

std::uint64_t WorkerRegistry::leases() const {
  std::uint64_t sum = 0;
  for (const auto& [session, worker] : workers_) sum += worker->leases.size();
  return sum;
}

}  // namespace skerry::broker
