#include "worker/engine/testing/forked_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "common/fd.h"

namespace skerry::engine {
namespace {

using nlohmann::json;

int g_report_fd = -1;  // of the fork, for the out-of-memory handler

/// Anonymous bytes of a process from its statm; 0 if it is gone. Allocates nothing.
std::uint64_t PrivateBytes(const char* statm_path) {
  const int fd = ::open(statm_path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  std::array<char, 128> text{};
  const ssize_t length = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  if (length <= 0) return 0;
  char* next = text.data();
  std::strtoull(next, &next, 10);
  const std::uint64_t resident = std::strtoull(next, &next, 10);
  const std::uint64_t file_backed = std::strtoull(next, &next, 10);
  return (resident - std::min(resident, file_backed)) * 4096;
}

std::uint64_t DataBytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("VmData:", 0) == 0) return std::strtoull(line.c_str() + 7, nullptr, 10) << 10;
  }
  throw std::runtime_error("no VmData in /proc/self/status");
}

void WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written <= 0) ::_exit(3);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// One record, as in the cell: the kind, then the private memory at the moment.
void OnOutOfMemory() {
  std::array<char, 64> record{};
  const int length = std::snprintf(record.data(), record.size(), "M%llu",
                                   static_cast<unsigned long long>(PrivateBytes("/proc/self/statm")));
  WriteAll(g_report_fd, {record.data(), static_cast<std::size_t>(length)});
  ::_exit(0);
}

class RecordingPort : public JobPort {
 public:
  explicit RecordingPort(const ForkedRun& run) : run_(run) {}

  void SendEvent(EventType type, Level level, std::string_view payload, bool truncated) override {
    events_.push_back({int(type), int(level), std::string(payload), truncated});
  }
  void SendDropped(std::uint64_t dropped_events) override { dropped_.push_back(dropped_events); }
  void SendTripped(LimitId limit) override { tripped_.push_back(std::string(NameOf(limit))); }
  void SendCall(std::uint32_t call, std::string_view method, std::string_view params) override {
    SeenCall seen{call, std::string(method), std::string(params)};
    calls_.push_back({call, seen.method, seen.params});
    waiting_.push_back(std::move(seen));
  }
  HostAnswer AwaitAnswer() override {
    if (next_ >= waiting_.size()) ::_exit(4);  // the engine waits for an answer to no call
    const SeenCall& call = waiting_[next_++];
    if (run_.answer) return run_.answer(call);
    return {call.call, HostAnswer::Kind::kValue, "\"answer\""};
  }

  json Report() const {
    return {{"events", events_}, {"calls", calls_}, {"dropped", dropped_}, {"tripped", tripped_}};
  }

 private:
  const ForkedRun& run_;
  json events_ = json::array();
  json calls_ = json::array();
  json dropped_ = json::array();
  json tripped_ = json::array();
  std::vector<SeenCall> waiting_;
  std::size_t next_ = 0;
};

json ToJson(const Outcome& outcome) {
  json error;
  if (outcome.error) {
    const JobError& e = *outcome.error;
    error = {int(e.code), e.limit, int(e.fault),    e.message,
             e.name,      e.stack, e.position.line, e.position.column};
  }
  const Usage& u = outcome.usage;
  return {{"error", error},
          {"value", outcome.value},
          {"usage",
           {u.heap_peak_bytes, u.data_requests, u.data_bytes, u.status_events, u.console_events,
            u.dropped_events, u.result_bytes}}};
}

Outcome OutcomeFrom(const json& report) {
  Outcome outcome;
  if (const json& e = report["error"]; !e.is_null()) {
    JobError error = MakeError(static_cast<Code>(e[0].get<int>()), e[3], e[1]);
    error.fault = static_cast<Fault>(e[2].get<int>());
    error.name = e[4];
    error.stack = e[5];
    error.position = {e[6], e[7]};
    outcome.error = std::move(error);
  }
  outcome.value = report["value"];
  const json& u = report["usage"];
  outcome.usage.heap_peak_bytes = u[0];
  outcome.usage.data_requests = u[1];
  outcome.usage.data_bytes = u[2];
  outcome.usage.status_events = u[3];
  outcome.usage.console_events = u[4];
  outcome.usage.dropped_events = u[5];
  outcome.usage.result_bytes = u[6];
  return outcome;
}

void ReadReport(const std::string& bytes, Ending* ending) {
  const json report = json::parse(bytes);
  ending->kind = Ending::Kind::kOutcome;
  ending->outcome = OutcomeFrom(report);
  for (const json& e : report["port"]["events"]) {
    ending->events.push_back({EventType(e[0].get<int>()), Level(e[1].get<int>()), e[2], e[3]});
  }
  for (const json& c : report["port"]["calls"]) ending->calls.push_back({c[0], c[1], c[2]});
  ending->dropped_reports = report["port"]["dropped"].get<std::vector<std::uint64_t>>();
  ending->tripped = report["port"]["tripped"].get<std::vector<std::string>>();
}

/// Ends the process with what it has to say instead of a run.
[[noreturn]] void LeaveSaying(int fd, char kind, std::string_view reason) {
  WriteAll(fd, kind + std::string(reason));
  ::_exit(0);
}

void LoadAll(Engine& engine, const ForkedRun& run, int report_fd) {
  for (const auto& [name, code] : run.libraries) {
    if (auto loaded = engine.Load({name, code}); !loaded) LeaveSaying(report_fd, 'L', loaded.error().message);
  }
}

/// Returns in a fork of its own, whose end becomes this process's. The fork's program has no code.
void KeepAndFork(Engine& engine, Program& program, Seeding seeding, int report_fd) {
  if (const auto reason = engine.Keep(program, seeding)) LeaveSaying(report_fd, 'U', NameOf(*reason));
  program.code = {};
  const pid_t pid = ::fork();
  if (pid == 0) return;
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) ::_exit(6);
  if (WIFSIGNALED(status)) {
    ::signal(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
  }
  ::_exit(WEXITSTATUS(status));
}

[[noreturn]] void RunInFork(const ForkedRun& run, Engine& engine, int report_fd) {
  g_report_fd = report_fd;
  SetOutOfMemoryHandler(OnOutOfMemory);
  RecordingPort port(run);
  LoadAll(engine, run, report_fd);
  Program program = run.program;
  program.code = run.code;
  const rlim_t data =
      DataBytes() + Bytes::MiB(program.limits.memory_mb()).count() + run.memory_margin.count();
  const rlimit limit{data, data};
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) ::_exit(5);
  if (run.kept) KeepAndFork(engine, program, *run.kept, report_fd);
  const Outcome outcome = engine.Run(program, port);
  // The test's own report must not count against the job.
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_DATA, &unlimited);
  json report = ToJson(outcome);
  report["port"] = port.Report();
  WriteAll(report_fd, "R" + report.dump());
  ::_exit(0);
}

/// Reads until the fork closes its end or the deadline passes; samples its memory on the way.
std::string Watch(pid_t pid, int fd, Millis deadline, Ending* ending) {
  const std::string statm = "/proc/" + std::to_string(pid) + "/statm";
  const TimePoint end = SteadyClock::now() + deadline;
  std::string bytes;
  std::array<char, 65536> buffer{};
  while (true) {
    ending->peak_private_bytes = std::max(ending->peak_private_bytes, PrivateBytes(statm.c_str()));
    if (SteadyClock::now() >= end) {
      ::kill(pid, SIGKILL);
      ending->kind = Ending::Kind::kDeadline;
      return {};
    }
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, 1) <= 0) continue;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string Ending::Verdict() const {
  switch (kind) {
    case Kind::kOutcome:
      return outcome.ok() ? "ok" : std::string(NameOf(outcome.error->code));
    case Kind::kOutOfMemory:
      return "OOM";
    case Kind::kDeadline:
      return "TIMEOUT";
    case Kind::kSignal:
      return "signal " + std::to_string(detail);
    case Kind::kExit:
      return "exit " + std::to_string(detail);
    case Kind::kUnkeepable:
      return "not kept: " + reason;
    case Kind::kNotLoaded:
      return "not loaded: " + reason;
  }
  return "?";
}

std::string Ending::Describe() const {
  std::string text = Verdict() + " after " + std::to_string(wall_ms) + " ms, " +
                     std::to_string(peak_private_bytes >> 20) + " MiB private";
  if (ok()) text += "; value " + outcome.value.substr(0, 200);
  if (outcome.error) text += "; " + outcome.error->name + ": " + outcome.error->message.substr(0, 200);
  return text;
}

ForkedRun& ForkedRun::With(LimitId limit, std::uint64_t value) {
  program.limits.Set(limit, value);
  return *this;
}

Engine& ForkedRun::SharedEngine() {
  static Engine* const engine = [] {  // never destroyed, as in the cell
    auto started = Engine::Start(EngineOptions{});
    if (!started) throw std::runtime_error(started.error().message);
    return started->release();
  }();
  return *engine;
}

Ending ForkedRun::Go() {
  Engine& engine = SharedEngine();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  Fd reader(ends[0]);
  Fd writer(ends[1]);
  std::fflush(nullptr);
  const TimePoint start = SteadyClock::now();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) RunInFork(*this, engine, writer.get());
  writer.Reset();

  Ending ending;
  const std::string bytes = Watch(pid, reader.get(), deadline, &ending);
  ending.wall_ms = MillisBetween(start, SteadyClock::now());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (ending.kind == Ending::Kind::kDeadline) return ending;
  if (WIFSIGNALED(status)) {
    ending.kind = Ending::Kind::kSignal;
    ending.detail = WTERMSIG(status);
  } else if (WEXITSTATUS(status) != 0 || bytes.empty()) {
    ending.kind = Ending::Kind::kExit;
    ending.detail = WEXITSTATUS(status);
  } else if (bytes[0] == 'M') {
    ending.kind = Ending::Kind::kOutOfMemory;
    ending.peak_private_bytes =
        std::max<std::uint64_t>(ending.peak_private_bytes, std::strtoull(bytes.c_str() + 1, nullptr, 10));
  } else if (bytes[0] == 'R') {
    ReadReport(bytes.substr(1), &ending);
  } else {
    ending.kind = bytes[0] == 'U' ? Ending::Kind::kUnkeepable : Ending::Kind::kNotLoaded;
    ending.reason = bytes.substr(1);
  }
  return ending;
}

Ending RunCode(std::string code) {
  return ForkedRun(std::move(code)).Go();
}

}  // namespace skerry::engine
