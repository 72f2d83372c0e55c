// What a worker has promised: leases by number and by memory, never more than it has.
//
//   LeaseLedger ledger(4, 1024);
//   Result<Lease> lease = ledger.Acquire(256);   // refused past either bound
//   ... the Lease's end gives it back: hold it until the isolate is reaped
//
// Threads: one owner. Ownership: the ledger must outlive its leases.
// Errors: kExhausted, naming the bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/result.h"

namespace skerry::agent {

class LeaseLedger;

class Lease {
 public:
  Lease() = default;
  ~Lease() { Release(); }
  Lease(Lease&& other) noexcept
      : ledger_(std::exchange(other.ledger_, nullptr)), memory_mb_(other.memory_mb_) {}
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  void Release();
  bool held() const { return ledger_ != nullptr; }

 private:
  friend class LeaseLedger;
  Lease(LeaseLedger* ledger, std::uint64_t memory_mb) : ledger_(ledger), memory_mb_(memory_mb) {}
  LeaseLedger* ledger_ = nullptr;
  std::uint64_t memory_mb_ = 0;
};

class LeaseLedger {
 public:
  /// `memory_mb`: for the budgets of all leases together.
  LeaseLedger(std::size_t max_leases, std::uint64_t memory_mb)
      : max_leases_(max_leases), memory_mb_(memory_mb) {}
  LeaseLedger(const LeaseLedger&) = delete;
  LeaseLedger& operator=(const LeaseLedger&) = delete;

  Result<Lease> Acquire(std::uint64_t memory_mb);

  std::size_t leases() const { return leases_; }
  std::size_t max_leases() const { return max_leases_; }
  std::uint64_t memory_mb() const { return memory_mb_; }
  std::uint64_t used_memory_mb() const { return used_mb_; }

 private:
  friend class Lease;
  std::size_t max_leases_;
  std::uint64_t memory_mb_;
  std::size_t leases_ = 0;
  std::uint64_t used_mb_ = 0;
};

}  // namespace skerry::agent
