// The lines of jobs with `cases`, as a test reads them.
//
//   const RunReport report = RunCases(pool, {Job("c", code).Set("cases", Numbers(300))});
//   const CasesReport cases = CasesOf(report, "c");
//   EXPECT_TRUE(IsOk(cases.cases.at(7), 14));
//
// Threads: as skerry_run.h. Errors: a second line of a case, or a second summary, fails the test.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/pool.h"

namespace skerry::testing {

/// Pool::Run expects one line a job.
RunReport RunCases(const Pool& pool, const std::vector<Job>& jobs, RunOptions options = {});

/// The lines of one job's cases, by number, and its summary; null: there is none.
struct CasesReport {
  std::map<int, JobResult> cases;
  Json summary;
};
CasesReport CasesOf(const RunReport& report, const std::string& id);

/// 0, 1, ... `count` - 1.
std::vector<Json> Numbers(int count);

/// Of derived cells that have become ready, as the worker's log tells, which must be a debug log.
std::vector<pid_t> DerivedCellsOf(const Pool& pool, std::size_t worker = 0);

}  // namespace skerry::testing
