#include "worker/agent/link/lease_ledger.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace skerry::agent {
namespace {

TEST(LeaseLedger, RefusesALeasePastItsBoundByName) {
  LeaseLedger ledger(2, 1024);
  const auto a = ledger.Acquire(1);
  auto b = ledger.Acquire(1);
  const auto c = ledger.Acquire(1);
  ASSERT_TRUE(a);
  ASSERT_TRUE(b);
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().message, "IsolateManager at capacity (2)");
  EXPECT_EQ(c.error().kind, ErrorKind::kExhausted);
  b->Release();
  EXPECT_TRUE(ledger.Acquire(1));
}

TEST(LeaseLedger, AdmitsExactlyItsMemoryAndSaysWhatIsLeft) {
  LeaseLedger ledger(10, 100);
  const auto a = ledger.Acquire(60);
  const auto b = ledger.Acquire(41);
  ASSERT_FALSE(b);
  EXPECT_NE(b.error().message.find("41 MiB"), std::string::npos) << b.error().message;
  EXPECT_NE(b.error().message.find("workerMemoryMb"), std::string::npos) << b.error().message;
  EXPECT_TRUE(ledger.Acquire(40));
}

TEST(LeaseLedger, TakesBackEachLeaseOnceHoweverItIsMoved) {
  LeaseLedger ledger(3, 100);
  {
    Lease a = std::move(*ledger.Acquire(10));
    Lease b = std::move(a);
    EXPECT_FALSE(a.held());
    b = std::move(*ledger.Acquire(20));
    EXPECT_EQ(ledger.leases(), 1u);
    EXPECT_EQ(ledger.used_memory_mb(), 20u);
    b.Release();
    b.Release();
  }
  EXPECT_EQ(ledger.leases(), 0u);
  EXPECT_EQ(ledger.used_memory_mb(), 0u);
}

TEST(LeaseLedger, NeverPromisesMoreThanItHasInAnyOrderOfLeases) {
  std::mt19937 random(7);
  LeaseLedger ledger(5, 1000);
  std::vector<Lease> held;
  for (int i = 0; i < 10'000; ++i) {
    if (random() % 3 != 0) {
      if (auto lease = ledger.Acquire(random() % 600)) held.push_back(std::move(*lease));
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      held.pop_back();
    }
    ASSERT_EQ(ledger.leases(), held.size());
    ASSERT_LE(ledger.leases(), 5u);
    ASSERT_LE(ledger.used_memory_mb(), 1000u);
  }
}

}  // namespace
}  // namespace skerry::agent
