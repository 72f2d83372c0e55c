// Twelve kinds of memory, each as a bomb and as a program that uses 80 % of its budget and frees it, at three
// budgets.
//
// A bomb must end as OOM with its peak private memory at most memoryMb + 40 MB; a twin must succeed within
// the same bound. All run once, two at a time (one a core), before the tests that judge them.
// SKERRY_CASES=text picks by id.
#include <cstdlib>
#include <tuple>

#include "tests/hostile/memory_kind.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

constexpr std::uint64_t kBudgetsMb[] = {8, 64, 256};
constexpr double kSlackBytes = 40 << 20;

bool IsChosen(const Job& job) {
  const char* wanted = getenv("SKERRY_CASES");
  return wanted == nullptr || job.id().find(wanted) != std::string::npos;
}

class Bombs : public ::testing::Environment {
 public:
  void SetUp() override {
    Pool pool({.isolates = 2});
    std::vector<Job> jobs;
    for (const auto& kind : MemoryKinds()) {
      for (const std::uint64_t memory_mb : kBudgetsMb) {
        for (const Job& job : {BombJob(kind, memory_mb), TwinJob(kind, memory_mb)}) {
          if (IsChosen(job)) jobs.push_back(job);
        }
      }
    }
    report_ = pool.Run(jobs, {.patience = std::chrono::seconds(380)});
  }
  const RunReport& report() const { return report_; }

 private:
  RunReport report_;
};

// GoogleTest owns it.
Bombs* const bombs = static_cast<Bombs*>(::testing::AddGlobalTestEnvironment(new Bombs));

class Memory : public ::testing::TestWithParam<std::tuple<MemoryKind, std::uint64_t>> {
 protected:
  static const MemoryKind& kind() { return std::get<0>(GetParam()); }
  static std::uint64_t memory_mb() { return std::get<1>(GetParam()); }
  static double MostBytes() { return static_cast<double>(memory_mb() << 20) + kSlackBytes; }
};

TEST_P(Memory, ABombIsOomWithinItsBudgetAndFortyMegabytes) {
  const Job job = BombJob(kind(), memory_mb());
  if (!IsChosen(job)) GTEST_SKIP() << "not chosen";
  const auto& result = bombs->report().At(job.id());
  EXPECT_TRUE(IsError(result, "OOM", "memoryMb"));
  EXPECT_LE(result.Usage("memoryPeakBytes"), MostBytes());
}

TEST_P(Memory, AProgramThatHoldsEightyPercentAndLetsGoSucceeds) {
  const Job job = TwinJob(kind(), memory_mb());
  if (!IsChosen(job)) GTEST_SKIP() << "not chosen";
  const auto& result = bombs->report().At(job.id());
  EXPECT_TRUE(IsOk(result));
  EXPECT_GT(result.value().is_number() ? result.value().get<double>() : 0, 0);
  EXPECT_LE(result.Usage("memoryPeakBytes"), MostBytes());
}

INSTANTIATE_TEST_SUITE_P(
    All, Memory, ::testing::Combine(::testing::ValuesIn(MemoryKinds()), ::testing::ValuesIn(kBudgetsMb)),
    [](const auto& info) {
      return std::get<0>(info.param).name + "_" + std::to_string(std::get<1>(info.param)) + "_mb";
    });

}  // namespace
}  // namespace skerry::testing
