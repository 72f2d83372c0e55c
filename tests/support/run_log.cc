#include "tests/support/run_log.h"

#include <algorithm>
#include <optional>
#include <sstream>

namespace skerry::testing {
namespace {

struct Entry {
  std::string id;
  std::uint32_t attempt = 0;
  std::string what;
};

// "... job ID attempt N: WHAT"
std::optional<Entry> ParseLine(const std::string& line) {
  const std::size_t job = line.find(" job ");
  if (job == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(job + 5));
  Entry entry;
  std::string attempt;
  char colon = 0;
  if (!(words >> entry.id >> attempt >> entry.attempt >> colon) || attempt != "attempt" || colon != ':')
    return std::nullopt;
  std::getline(words >> std::ws, entry.what);
  return entry;
}

}  // namespace

void ReadRunLog(const std::string& text, RunLog& log) {
  // The run of each job that this place has begun last.
  std::map<std::string, std::size_t> current;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" serves ") != std::string::npos) current.clear();  // another worker
    const auto entry = ParseLine(line);
    if (!entry) continue;
    auto& runs = log[entry->id];
    if (entry->what == "hand-over") {
      // A worker that hands the same attempt over again says that the first hand-over failed.
      const auto before = current.find(entry->id);
      if (before != current.end() && runs[before->second].attempt == entry->attempt)
        runs[before->second].open = false;
      current[entry->id] = runs.size();
      runs.push_back({entry->attempt, false, false, true});
      continue;
    }
    const auto run = current.find(entry->id);
    if (run == current.end()) continue;
    if (entry->what == "started") {
      runs[run->second].started = true;
      runs[run->second].open = false;
    } else if (entry->what.ends_with("answered")) {
      runs[run->second].answered = true;
    }
  }
}

std::size_t RunsOf(const RunLog& log, const std::string& id) {
  const auto runs = log.find(id);
  if (runs == log.end()) return 0;
  return static_cast<std::size_t>(std::count_if(runs->second.begin(), runs->second.end(),
                                                [](const ObservedRun& run) { return run.MayHaveRun(); }));
}

std::size_t AnsweredRunsOf(const RunLog& log, const std::string& id) {
  const auto runs = log.find(id);
  if (runs == log.end()) return 0;
  return static_cast<std::size_t>(std::count_if(runs->second.begin(), runs->second.end(),
                                                [](const ObservedRun& run) { return run.answered; }));
}

}  // namespace skerry::testing
