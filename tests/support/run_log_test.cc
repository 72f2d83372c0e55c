#include "tests/support/run_log.h"

#include <gtest/gtest.h>

namespace skerry::testing {
namespace {

RunLog Read(const std::string& text) {
  RunLog log;
  ReadRunLog(text, log);
  return log;
}

TEST(RunLog, CountsARunOnceItHasStarted) {
  const RunLog log = Read(
      "2026 debug worker job a attempt 1: hand-over\n2026 debug worker job a attempt 1: started\n"
      "2026 debug worker job a attempt 1: call 1 answered\n"
      "2026 debug worker job a attempt 2: hand-over\n2026 debug worker job a attempt 2: started\n");
  EXPECT_EQ(RunsOf(log, "a"), 2u);
  EXPECT_EQ(AnsweredRunsOf(log, "a"), 1u);
  EXPECT_EQ(RunsOf(log, "b"), 0u);
}

TEST(RunLog, AHandOverThatIsTriedAgainWasNoRun) {
  const RunLog log =
      Read("x job a attempt 1: hand-over\nx job a attempt 1: hand-over\nx job a attempt 1: started\n");
  EXPECT_EQ(RunsOf(log, "a"), 1u);
}

TEST(RunLog, AHandOverWhoseWorkerDiedMayHaveBeenARun) {
  const RunLog log = Read(
      "x job a attempt 1: hand-over\nx worker w serves ipc://w: 4 isolates\nx job a attempt 1: hand-over\n"
      "x job a attempt 1: started\n");
  EXPECT_EQ(RunsOf(log, "a"), 2u);
}

}  // namespace
}  // namespace skerry::testing
