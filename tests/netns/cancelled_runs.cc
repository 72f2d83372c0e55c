#include "tests/netns/cancelled_runs.h"

#include <time.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>

namespace skerry::testing {
namespace {

using std::chrono::system_clock;

/// "2026-11-30T00:16:28.449+00:00 ..."
system_clock::time_point TimeOf(const std::string& line) {
  tm parts{};
  const char* rest = strptime(line.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr || *rest != '.') return {};
  return system_clock::from_time_t(timegm(&parts)) + std::chrono::milliseconds(std::atoi(rest + 1));
}

std::string FieldOf(const std::string& line, const std::string& name) {
  const std::size_t at = line.find(" " + name + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 2;
  return line.substr(begin, line.find(' ', begin) - begin);
}

}  // namespace

std::vector<CancelledRun> RunsIn(const std::string& worker_log, const std::string& prefix) {
  std::vector<CancelledRun> runs;
  std::map<std::string, std::size_t> current;
  std::istringstream lines(worker_log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" worker started; ") != std::string::npos) current.clear();
    const std::string job = FieldOf(line, "job");
    if (!job.starts_with(prefix)) continue;
    const auto says = [&](std::string_view what) { return line.find(what) != std::string::npos; };
    if (says("job is handed over")) {
      current[job] = runs.size();
      runs.push_back({job, std::atoi(FieldOf(line, "pid").c_str()), TimeOf(line), std::nullopt});
      continue;
    }
    const auto run = current.find(job);
    if (run == current.end()) continue;
    if (says("job is started") || says("call is answered")) runs[run->second].last_step = TimeOf(line);
    if (says("job ended")) runs[run->second].ended = TimeOf(line);
  }
  return runs;
}

}  // namespace skerry::testing
