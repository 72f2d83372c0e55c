#include "worker/engine/testing/run_series.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "common/fd.h"
#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

using nlohmann::json;

class SeriesPort : public JobPort {
 public:
  void SendEvent(EventType, Level, std::string_view payload, bool) override { events.emplace_back(payload); }
  void SendDropped(std::uint64_t) override {}
  void SendTripped(LimitId) override {}
  void SendCall(std::uint32_t call, std::string_view method, std::string_view) override {
    calls.push_back(std::to_string(call) + " " + std::string(method));
    last_call_ = call;
  }
  HostAnswer AwaitAnswer() override {
    return {last_call_, HostAnswer::Kind::kValue, std::to_string(last_call_)};
  }

  std::vector<std::string> events;
  std::vector<std::string> calls;

 private:
  std::uint32_t last_call_ = 0;
};

std::uint64_t DataBytes() {
  std::array<char, 128> text{};
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fgets(text.data(), text.size(), file) == nullptr) _exit(3);
  std::fclose(file);
  unsigned long long data = 0;
  if (std::sscanf(text.data(), "%*u %*u %*u %*u %*u %llu", &data) != 1) _exit(3);
  return data * 4096;
}

void LimitDataTo(std::uint64_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) _exit(5);
}

json RunOne(Engine& engine, const SeriesJob& job, bool first) {
  SeriesPort port;
  Program program = job.program;
  program.code = job.code;
  program.input = job.input;
  const TimePoint start = SteadyClock::now();
  if (!first && !engine.Renew()) _exit(6);
  const std::uint64_t data = DataBytes();
  const Outcome outcome = engine.Run(program, port);
  const double micros = MillisBetween(start, SteadyClock::now()) * 1000;
  return {{"verdict", outcome.ok() ? "ok" : std::string(NameOf(outcome.error->code))},
          {"value", outcome.value},
          {"message", outcome.error ? outcome.error->message : ""},
          {"events", port.events},
          {"calls", port.calls},
          {"heap", outcome.usage.heap_peak_bytes},
          {"data", data},
          {"micros", micros}};
}

[[noreturn]] void RunAll(const std::vector<SeriesJob>& jobs, Bytes data_allowance, int report_fd) {
  ::alarm(30);  // a series that hangs ends short
  Engine& engine = ForkedRun::SharedEngine();
  SetOutOfMemoryHandler([] { _exit(7); });
  const std::uint64_t bound =
      data_allowance.count() == 0 ? RLIM_INFINITY : DataBytes() + data_allowance.count();
  for (const SeriesJob& job : jobs) {
    LimitDataTo(bound);
    const json report = RunOne(engine, job, &job == jobs.data());
    LimitDataTo(RLIM_INFINITY);  // the test's own report must not count against the jobs
    const std::string line = report.dump() + "\n";
    if (::write(report_fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(3);
  }
  _exit(0);
}

}  // namespace

std::vector<SeriesEnding> RunSeries(const std::vector<SeriesJob>& jobs, Bytes data_allowance) {
  ForkedRun::SharedEngine();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) RunAll(jobs, data_allowance, writer.get());
  writer.Reset();
  std::string text;
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = ::read(reader.get(), buffer.data(), buffer.size())) != 0;) {
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::vector<SeriesEnding> endings;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const json line = json::parse(text.substr(at, end - at));
    endings.push_back({line["verdict"], line["value"], line["message"], line["events"], line["calls"],
                       line["heap"], line["data"], line["micros"]});
    at = end + 1;
  }
  return endings;
}

}  // namespace skerry::engine
