#include "tests/support/cases_report.h"

#include <regex>

namespace skerry::testing {

RunReport RunCases(const Pool& pool, const std::vector<Job>& jobs, RunOptions options) {
  std::string lines;
  for (const Job& job : jobs) lines += job.Line() + "\n";
  options.broker = pool.client_url();
  return RunLines(lines, options);
}

CasesReport CasesOf(const RunReport& report, const std::string& id) {
  CasesReport sorted;
  for (const std::string& line : report.lines) {
    const auto json = ParseJson(line);
    if (!json || json->at("id") != id) continue;
    if (json->contains("summary")) {
      EXPECT_TRUE(sorted.summary.is_null()) << "a second summary";
      sorted.summary = json->at("summary");
    } else if (!json->contains("case")) {
      ADD_FAILURE() << "neither a case nor a summary: " << Shown(JobResult(*json, line));
    } else {
      const int number = json->at("case").get<int>();
      EXPECT_TRUE(sorted.cases.emplace(number, JobResult(*json, line)).second)
          << "two results of case " << number;
    }
  }
  return sorted;
}

std::vector<Json> Numbers(int count) {
  std::vector<Json> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

std::vector<pid_t> DerivedCellsOf(const Pool& pool, std::size_t worker) {
  std::vector<pid_t> pids;
  const std::string log = ReadFile(pool.worker_log(worker));
  const std::regex line("a derived cell is ready.* pid=([0-9]+)");
  for (std::sregex_iterator it(log.begin(), log.end(), line), end; it != end; ++it)
    pids.push_back(std::stoi((*it)[1]));
  return pids;
}

}  // namespace skerry::testing
