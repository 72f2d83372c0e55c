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
      "2026 debug worker job is handed over job=a attempt=1\n2026 debug worker job is started job=a "
      "attempt=1\n"
      "2026 debug worker call is answered job=a attempt=1 call=1\n"
      "2026 debug worker job is handed over job=a attempt=2\n2026 debug worker job is started job=a "
      "attempt=2\n");
  EXPECT_EQ(RunsOf(log, "a"), 2u);
  EXPECT_EQ(AnsweredRunsOf(log, "a"), 1u);
  EXPECT_EQ(RunsOf(log, "b"), 0u);
}

TEST(RunLog, AHandOverThatIsTriedAgainWasNoRun) {
  const RunLog log = Read(
      "x job is handed over job=a attempt=1\nx job is handed over job=a attempt=1\nx job is started job=a "
      "attempt=1\n");
  EXPECT_EQ(RunsOf(log, "a"), 1u);
}

TEST(RunLog, AHandOverWhoseWorkerDiedMayHaveBeenARun) {
  const RunLog log = Read(
      "x job is handed over job=a attempt=1\nx info worker started; looking for the broker worker=w "
      "broker=ipc://w\nx job is handed "
      "over job=a attempt=1\n"
      "x job is started job=a attempt=1\n");
  EXPECT_EQ(RunsOf(log, "a"), 2u);
}

TEST(RunLog, KnowsWhichProcessHadARunAndSinceWhen) {
  const RunLog log =
      Read("2026-11-30T00:16:28.449+00:00 debug worker job is handed over job=a attempt=1 pid=814\n");
  ASSERT_EQ(log.at("a").size(), 1u);
  EXPECT_EQ(log.at("a")[0].pid, 814);
  EXPECT_EQ(log.at("a")[0].when.time_since_epoch(), std::chrono::milliseconds(1'795'997'788'449));
}

}  // namespace
}  // namespace skerry::testing
