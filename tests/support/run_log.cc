#include "tests/support/run_log.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>

namespace skerry::testing {
namespace {

struct Entry {
  std::string id;
  std::uint32_t attempt = 0;
  std::string what;
  pid_t pid = 0;
  std::chrono::system_clock::time_point when{};
};

/// "2026-11-30T00:16:28.449+00:00 ..."; the epoch where a line begins otherwise.
std::chrono::system_clock::time_point TimeOf(const std::string& line) {
  tm parts{};
  const char* rest = strptime(line.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr || *rest != '.') return {};
  return std::chrono::system_clock::from_time_t(timegm(&parts)) +
         std::chrono::milliseconds(std::atoi(rest + 1));
}

/// The value of `name=` in a line of text, up to the next blank.
std::string FieldOf(const std::string& line, const std::string& name) {
  const std::size_t at = line.find(" " + name + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 2;
  return line.substr(begin, line.find(' ', begin) - begin);
}

// "TIME debug worker WHAT job=ID attempt=N", with WHAT one of the worker's three lines about a run.
std::optional<Entry> ParseLine(const std::string& line) {
  for (const char* what : {"job is handed over", "job is started", "call is answered"}) {
    if (line.find(what) == std::string::npos) continue;
    const std::string attempt = FieldOf(line, "attempt");
    if (attempt.empty()) return std::nullopt;
    return Entry{FieldOf(line, "job"), static_cast<std::uint32_t>(std::stoul(attempt)), what,
                 std::atoi(FieldOf(line, "pid").c_str()), TimeOf(line)};
  }
  return std::nullopt;
}

}  // namespace

void ReadRunLog(const std::string& text, RunLog& log) {
  // The run of each job that this place has begun last.
  std::map<std::string, std::size_t> current;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" worker started; ") != std::string::npos) current.clear();  // another worker
    const auto entry = ParseLine(line);
    if (!entry) continue;
    auto& runs = log[entry->id];
    if (entry->what == "job is handed over") {
      // A worker that hands the same attempt over again says that the first hand-over failed.
      const auto before = current.find(entry->id);
      if (before != current.end() && runs[before->second].attempt == entry->attempt)
        runs[before->second].open = false;
      current[entry->id] = runs.size();
      runs.push_back({.attempt = entry->attempt, .pid = entry->pid, .when = entry->when, .open = true});
      continue;
    }
    const auto run = current.find(entry->id);
    if (run == current.end()) continue;
    if (entry->what == "job is started") {
      runs[run->second].started = true;
      runs[run->second].open = false;
    } else if (entry->what == "call is answered") {
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
