// `skerry run` as a user would run it: JSON Lines in, JSON Lines out, an exit code.
//
//   RunReport report = RunJobs({Job("a", "return 1")});            // private broker and worker
//   EXPECT_TRUE(IsOk(report.At("a"), 1));
//
// RunJobs fails the test by itself when a job has no result line or two, when a line is not JSON, when the
// exit code does not match the outcomes, or when the run outlasts its patience. RunLines only reports.
//
// Threads: any; each call has its own files and its own child.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/job.h"

namespace skerry::testing {

struct RunOptions {
  std::string broker = {};             ///< empty: skerry starts its own broker and worker
  std::vector<std::string> args = {};  ///< more options of `skerry run`
  std::optional<Json> fixtures = {};   ///< what --data answers
  std::chrono::milliseconds patience{60'000};
};

struct RunReport {
  std::optional<int> exit_code;              ///< none: it had to be killed
  std::vector<std::string> lines;            ///< the output's lines, as they came
  std::map<std::string, JobResult> results;  ///< by id; of a repeated id the first
  std::map<std::string, int> counts;         ///< result lines per id
  std::string stderr_text;
  std::chrono::duration<double, std::milli> wall{};

  /// A job's result; a failure and an empty result when there is none.
  const JobResult& At(const std::string& id) const;
};

RunReport RunJobs(const std::vector<Job>& jobs, const RunOptions& options = {});
RunReport RunLines(const std::string& text, const RunOptions& options = {});

/// Any `skerry` command line.
struct CommandResult {
  std::optional<int> exit_code;  ///< none: it had to be killed
  std::string out;
  std::string err;
};
CommandResult RunSkerry(const std::vector<std::string>& args, const std::string& stdin_text = {},
                        std::chrono::milliseconds patience = std::chrono::milliseconds(60'000));

/// The lines of a JSON Lines text, whether or not the last one has its end.
std::vector<std::string> SplitLines(const std::string& text);
/// Sorts an output file's lines by id; a line that is not a JSON object with an id fails the test.
void ReadResults(const std::string& output, RunReport& report);

}  // namespace skerry::testing
