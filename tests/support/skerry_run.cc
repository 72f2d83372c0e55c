#include "tests/support/skerry_run.h"

#include <sstream>

#include "tests/support/child.h"
#include "tests/support/places.h"

namespace skerry::testing {
namespace {

std::vector<std::string> Arguments(const RunOptions& options, const TempDir& dir) {
  std::vector<std::string> argv = {Binary("skerry"), "run", dir / "jobs.jsonl", "-o", dir / "results.jsonl"};
  if (!options.broker.empty()) argv.insert(argv.end(), {"--broker", options.broker});
  if (options.fixtures) {
    WriteFile(dir / "fixtures.json", options.fixtures->dump());
    argv.insert(argv.end(), {"--data", dir / "fixtures.json"});
  }
  argv.insert(argv.end(), options.args.begin(), options.args.end());
  return argv;
}

void CheckEveryJobHasOneResult(const std::vector<Job>& jobs, const RunReport& report) {
  bool all_ok = true;
  for (const auto& job : jobs) {
    const auto found = report.counts.find(job.id());
    EXPECT_EQ(found == report.counts.end() ? 0 : found->second, 1) << "result lines of job " << job.id();
    if (found != report.counts.end()) all_ok = all_ok && report.results.at(job.id()).ok();
  }
  EXPECT_EQ(report.lines.size(), jobs.size());
  EXPECT_EQ(report.exit_code, all_ok ? 0 : 1) << report.stderr_text;
}

}  // namespace

const JobResult& RunReport::At(const std::string& id) const {
  static const JobResult kNone;
  const auto found = results.find(id);
  if (found != results.end()) return found->second;
  ADD_FAILURE() << "no result for job " << id << "; stderr: " << stderr_text;
  return kNone;
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void ReadResults(const std::string& output, RunReport& report) {
  report.lines = SplitLines(output);
  for (const auto& line : report.lines) {
    auto json = ParseJson(line);
    if (!json || !json->is_object() || !json->contains("id") || !json->at("id").is_string()) {
      ADD_FAILURE() << "not a result line: " << line.substr(0, 500);
      continue;
    }
    const auto id = json->at("id").get<std::string>();
    ++report.counts[id];
    report.results.try_emplace(id, std::move(*json), line);
  }
}

RunReport RunLines(const std::string& text, const RunOptions& options) {
  const TempDir dir;
  WriteFile(dir / "jobs.jsonl", text);
  RunReport report;
  const auto start = std::chrono::steady_clock::now();
  {
    Child skerry(Arguments(options, dir), {.stdout_path = dir / "stdout", .stderr_path = dir / "stderr"});
    report.exit_code = skerry.Wait(options.patience);
    report.wall = std::chrono::steady_clock::now() - start;
  }
  report.stderr_text = ReadFile(dir / "stderr");
  EXPECT_TRUE(report.exit_code) << "skerry run did not end within " << options.patience.count()
                                << " ms; stderr: " << report.stderr_text;
  ReadResults(ReadFile(dir / "results.jsonl"), report);
  return report;
}

RunReport RunJobs(const std::vector<Job>& jobs, const RunOptions& options) {
  std::string text;
  for (const auto& job : jobs) text += job.Line() + "\n";
  RunReport report = RunLines(text, options);
  CheckEveryJobHasOneResult(jobs, report);
  return report;
}

CommandResult RunSkerry(const std::vector<std::string>& args, const std::string& stdin_text,
                        std::chrono::milliseconds patience) {
  const TempDir dir;
  WriteFile(dir / "stdin", stdin_text);
  std::vector<std::string> argv = {Binary("skerry")};
  argv.insert(argv.end(), args.begin(), args.end());
  CommandResult result;
  {
    Child skerry(argv, {dir / "stdin", dir / "stdout", dir / "stderr"});
    result.exit_code = skerry.Wait(patience);
  }
  result.out = ReadFile(dir / "stdout");
  result.err = ReadFile(dir / "stderr");
  EXPECT_TRUE(result.exit_code) << "skerry did not end within " << patience.count()
                                << " ms; stderr: " << result.err;
  return result;
}

}  // namespace skerry::testing
