#include "clients/cli/exec_command.h"

#include <simdjson.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>
#include <variant>

#include "clients/cli/exec_cases.h"
#include "clients/cli/exit_codes.h"
#include "clients/cli/interrupt.h"
#include "clients/cli/json_text.h"
#include "clients/cli/result_line.h"
#include "clients/cli/say.h"
#include "clients/cli/waiting_notice.h"
#include "common/text_check.h"

namespace skerry::cli {
namespace {

constexpr Millis kWait{100};

bool ReadClock(const std::string& text, std::optional<std::uint64_t>& clock_ms) {
  if (text.empty() || ClockByName(text, clock_ms)) return true;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  clock_ms = number;
  return error == std::errc() && end == text.data() + text.size();
}

Result<JobRequest> ReadProgram(const ExecOptions& options) {
  std::ostringstream text;
  if (options.file == "-") {
    text << std::cin.rdbuf();
  } else {
    std::ifstream file(options.file, std::ios::binary);
    if (!file) return FailErrno("cannot read " + options.file);
    // A folder opens, and only fails when it is read.
    if (std::filesystem::is_directory(options.file)) return FailErrno("cannot read " + options.file, EISDIR);
    text << file.rdbuf();
  }
  JobRequest job;
  job.code = text.str();
  if (!simdjson::validate_utf8(job.code))
    return Fail(ErrorKind::kInvalid, options.file + " is not UTF-8 text");
  if (!options.input.empty() && !IsJson(options.input))
    return Fail(ErrorKind::kInvalid, "--input is not JSON: " + JsonFaultIn(options.input));
  job.input = options.input;
  job.spec.id = JobId("exec");
  job.spec.tenant = TenantId(options.connect.tenant);
  job.spec.user = UserId(options.connect.user);
  job.spec.limits = options.limits;
  job.spec.libraries = options.libraries;
  const std::string mode = !options.mode.empty()            ? options.mode
                           : options.file.ends_with(".mjs") ? "module"
                                                            : "function";
  const auto parsed = ModeByName(mode);
  if (!parsed) return Fail(ErrorKind::kInvalid, "--mode must be function, script or module");
  job.spec.mode = *parsed;
  job.spec.seed = options.seed;
  job.spec.receipt = options.receipt;
  if (!ReadClock(options.clock, job.spec.clock_ms))
    return Fail(ErrorKind::kInvalid, "--clock must be real, frozen, or ms since the epoch");
  return job;
}

/// What a program wrote may hold terminal controls: only tab and newline pass.
void PrintText(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 ? byte != 0x7f : c == '\n' || c == '\t') {
      shown += c;
    } else {
      shown += '?';
    }
  }
  std::fwrite(shown.data(), 1, shown.size(), stderr);
  std::fputc('\n', stderr);
}

void PrintNotice(const JobNotice& notice) {
  const std::string mark = notice.truncated ? " … (truncated)" : "";
  if (notice.type == EventType::kStatus) {
    PrintText("status: " + notice.payload + mark);
  } else {
    PrintText(notice.payload + mark);
  }
}

int PrintOutcome(const Outcome& outcome) {
  if (!outcome.receipt.empty()) PrintText("receipt: " + outcome.receipt);
  if (outcome.ok()) {
    std::string value;
    AppendOneLine(value, outcome.value);
    value += '\n';
    const bool wrote =
        std::fwrite(value.data(), 1, value.size(), stdout) == value.size() && std::fflush(stdout) == 0;
    return wrote ? kExitOk : kExitCannotWrite;
  }
  const JobError& error = *outcome.error;
  const bool own = error.code == Code::kCompile || error.code == Code::kRuntime;
  const std::string headline = error.name + ": " + error.message;
  // V8's stack begins with the same headline.
  if (own && error.stack.starts_with(error.name)) {
    PrintText(error.stack);
  } else {
    PrintText(headline);
    if (own && !error.stack.empty()) PrintText(error.stack);
  }
  if (own && error.stack.find("\n    at ") == std::string::npos && error.position.line > 0) {
    PrintText("    at line " + std::to_string(error.position.line) + ", column " +
              std::to_string(error.position.column));
  }
  return kExitJobsFailed;
}

int Wait(Connection& connection) {
  bool cancelled = false;
  WaitingNotice waiting;
  for (;;) {
    if (const auto line = waiting.Check(1, connection.client().Health(), SteadyClock::now())) Say(*line);
    if (Interrupts() > 1) return kExitInterrupted;
    if (Interrupts() > 0 && !std::exchange(cancelled, true)) connection.client().Cancel(JobId("exec"));
    if (auto failure = connection.Failure()) return Complain(failure->message, ExitCodeOf(*failure));
    auto event = connection.client().Next(kWait);
    if (!event) continue;
    waiting.Heard();
    if (auto* notice = std::get_if<JobNotice>(&*event)) {
      PrintNotice(*notice);
    } else if (std::holds_alternative<JobRestarted>(*event)) {
      std::fputs("skerry: the program runs again from its beginning\n", stderr);
    } else if (auto* failed = std::get_if<LinkFailed>(&*event)) {
      return Complain(failed->error.message, kExitUnavailable);
    } else if (auto* final = std::get_if<JobFinal>(&*event)) {
      if (cancelled) return kExitInterrupted;
      return PrintOutcome(Checked(std::move(final->outcome)));
    }
  }
}

}  // namespace

int ExecCommand(const ExecOptions& options) {
  auto job = ReadProgram(options);
  if (!job) return Complain(job.error().message, kExitUsage);
  CasesRequest cases;
  if (!options.cases.empty()) {
    auto inputs = ReadInputs(options.cases);
    if (!inputs) return Complain(inputs.error().message, kExitUsage);
    cases.inputs = std::move(*inputs);
  }
  CatchInterrupts();
  auto connection = Connection::Open(options.connect);
  if (!connection) {
    return Complain(connection.error().message, ExitCodeOf(connection.error()));
  }
  if (!options.cases.empty()) {
    cases.spec = std::move(job->spec);
    cases.spec.program = true;
    cases.program = Program::Of(std::move(job->code));
    cases.stop_on = options.stop_on;
    return ExecCases(*connection, std::move(cases));
  }
  auto taken = connection->client().Submit(*job);
  if (!taken) return Complain(taken.error().message, kExitUsage);
  return Wait(*connection);
}

}  // namespace skerry::cli
