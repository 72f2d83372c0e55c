// The example of docs/client-cpp.md does what the page says.
#include <algorithm>

#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

TEST(ExampleCpp, ScoresEveryCandidateAndCancelsTheOneThatNeverEnds) {
  Pool pool;
  const TempDir dir;
  Child score({Binary("skerry-example-score"), pool.client_url()},
              {.stdout_path = dir / "out", .stderr_path = dir / "err"});
  ASSERT_EQ(score.Wait(std::chrono::seconds(30)), 0) << ReadFile(dir / "err") << pool.Logs();
  auto lines = SplitLines(ReadFile(dir / "out"));
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"endless scores 0: CANCELLED", "no-tax says \"asking\"",
                                             "no-tax scores 0", "right scores 1", "typo scores 0: RUNTIME",
                                             "wrong-method scores 0: RUNTIME"}));
}

TEST(ExampleCpp, RunsEachCandidateOverItsTestsUntilItFails) {
  Pool pool;
  const TempDir dir;
  Child cases({Binary("skerry-example-cases"), pool.client_url()},
              {.stdout_path = dir / "out", .stderr_path = dir / "err"});
  ASSERT_EQ(cases.Wait(std::chrono::seconds(30)), 0) << ReadFile(dir / "err") << pool.Logs();
  auto lines = SplitLines(ReadFile(dir / "out"));
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"as-text fails", "right passes", "throws fails: RUNTIME"}));
}

TEST(ExampleCpp, SaysSoWhenThereIsNoBroker) {
  const TempDir dir;
  Child score({Binary("skerry-example-score"), "ipc://" + (dir / "nobody").string()},
              {.stderr_path = dir / "err"});
  EXPECT_EQ(score.Wait(std::chrono::seconds(30)), 69);
  EXPECT_FALSE(ReadFile(dir / "err").empty());
}

}  // namespace
}  // namespace skerry::testing
