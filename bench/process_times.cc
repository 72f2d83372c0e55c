#include "bench/process_times.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>

namespace skerry::bench {
namespace {

std::string ReadProc(const std::string& pid, const char* file) {
  std::ifstream stream("/proc/" + pid + "/" + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

constexpr double kMicrosPerSecond = 1e6;

}  // namespace

Result<ProcessTimes> ParseStat(std::string_view stat, long ticks_per_second) {
  // "pid (name) state ppid …": a name may hold blanks and parentheses, so that fields count from the last
  // one.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return Fail(ErrorKind::kUnavailable, "no such process");
  std::istringstream rest{std::string(stat.substr(name_end + 1))};
  constexpr std::size_t kFields = 20;  // proc(5)'s 3, the state, to 22, starttime
  std::array<std::string, kFields> fields;
  for (std::string& field : fields) {
    if (!(rest >> field)) return Fail(ErrorKind::kInternal, "/proc/PID/stat is not as expected");
  }
  const auto number = [&](std::size_t proc_field) { return std::stoull(fields[proc_field - 3]); };
  const auto micros = [&](std::size_t proc_field) {
    return static_cast<double>(number(proc_field)) * kMicrosPerSecond / static_cast<double>(ticks_per_second);
  };
  ProcessTimes times;
  times.parent = static_cast<pid_t>(number(4));
  times.own = {micros(14), micros(15), static_cast<double>(number(10))};
  times.reaped = {micros(16), micros(17), static_cast<double>(number(11))};
  times.started_ticks = number(22);
  return times;
}

Result<ProcessTimes> ReadProcessTimes(pid_t pid) {
  return ParseStat(ReadProc(std::to_string(pid), "stat"), sysconf(_SC_CLK_TCK));
}

Result<pid_t> FindCell(pid_t worker) {
  pid_t oldest = -1;
  std::uint64_t oldest_start = std::numeric_limits<std::uint64_t>::max();
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto times = ParseStat(ReadProc(pid, "stat"), 1);
    if (!times || times->parent != worker || times->started_ticks >= oldest_start) continue;
    if (ReadProc(pid, "cmdline").find("skerry-cell") == std::string::npos) continue;
    oldest = static_cast<pid_t>(std::stol(pid));
    oldest_start = times->started_ticks;
  }
  if (oldest < 0) return Fail(ErrorKind::kUnavailable, "the worker has no cell");
  return oldest;
}

Result<std::uint64_t> ReadResidentBytes(pid_t pid) {
  const std::string status = ReadProc(std::to_string(pid), "status");
  constexpr std::string_view kKey = "VmRSS:";
  const std::size_t at = status.find(kKey);
  if (at == std::string::npos) return Fail(ErrorKind::kUnavailable, "no such process");
  return std::stoull(status.substr(at + kKey.size())) * 1024;
}

}  // namespace skerry::bench
