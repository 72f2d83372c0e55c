#include "worker/agent/link/lease_ledger.h"

#include <string>

namespace skerry::agent {

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    Release();
    ledger_ = std::exchange(other.ledger_, nullptr);
    memory_mb_ = other.memory_mb_;
  }
  return *this;
}

void Lease::Release() {
  if (ledger_ == nullptr) return;
  ledger_->leases_ -= 1;
  ledger_->used_mb_ -= memory_mb_;
  ledger_ = nullptr;
}

Result<Lease> LeaseLedger::Acquire(std::uint64_t memory_mb) {
  if (leases_ >= max_leases_) {
    return Fail(ErrorKind::kExhausted, "IsolateManager at capacity (" + std::to_string(max_leases_) + ")");
  }
  if (memory_mb > memory_mb_ - used_mb_) {
    return Fail(ErrorKind::kExhausted, "IsolateManager out of memory budget: the job asks for " +
                                           std::to_string(memory_mb) + " MiB, " +
                                           std::to_string(memory_mb_ - used_mb_) + " of workerMemoryMb's " +
                                           std::to_string(memory_mb_) + " MiB for jobs are left");
  }
  leases_ += 1;
  used_mb_ += memory_mb;
  return Lease(this, memory_mb);
}

}  // namespace skerry::agent
