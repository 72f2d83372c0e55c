#include "clients/cli/exec_cases.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "clients/cli/exit_codes.h"
#include "clients/cli/interrupt.h"
#include "clients/cli/line_reader.h"
#include "clients/cli/result_line.h"
#include "clients/cli/say.h"
#include "clients/cli/waiting_notice.h"
#include "common/text_check.h"

namespace skerry::cli {
namespace {

constexpr Millis kWait{100};
constexpr Millis kForever{-1};

/// The lines of one set of cases, until its summary.
class Lines {
 public:
  /// The exit code, once it is known.
  std::optional<int> Take(ClientEvent event) {
    if (auto* notice = std::get_if<JobNotice>(&event)) {
      AppendEvent(events_[notice->id], *notice);
    } else if (auto* restarted = std::get_if<JobRestarted>(&event)) {
      events_.erase(restarted->id);
    } else if (auto* final = std::get_if<JobFinal>(&event)) {
      const std::string events = std::move(events_[final->id]);
      events_.erase(final->id);
      const auto& error = final->outcome.error;
      if (interrupted_ && error && error->code == Code::kCancelled) return ++not_run_, std::nullopt;
      return Print(CaseLine(*final->of_case, Checked(std::move(final->outcome)), events));
    } else if (auto* ended = std::get_if<CasesEnded>(&event)) {
      // A summary of less than all is none.
      if (not_run_ > 0) return SayInterrupted();
      if (auto failed = Print(SummaryLine(ended->id, ended->summary))) return failed;
      return ended->summary.ok == ended->summary.cases ? kExitOk : kExitJobsFailed;
    } else if (auto* failed = std::get_if<LinkFailed>(&event)) {
      return Complain(failed->error.message, kExitUnavailable);
    }
    return std::nullopt;
  }

  /// What ends as cancelled from now on has no line.
  void BeginInterrupt() { interrupted_ = true; }

 private:
  int SayInterrupted() const {
    const std::string cases = not_run_ == 1 ? " case" : " cases";
    return Complain("interrupted: " + std::to_string(not_run_) + cases +
                        " not run; `skerry run` of a job with `cases`, with --output FILE, could go on with "
                        "--resume",
                    kExitInterrupted);
  }
  static std::optional<int> Print(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fflush(stdout) == 0)
      return std::nullopt;
    return Complain("cannot write to stdout", kExitCannotWrite);
  }

  std::unordered_map<JobId, std::string> events_;
  bool interrupted_ = false;
  std::uint64_t not_run_ = 0;
};

}  // namespace

Result<std::vector<std::string>> ReadInputs(const std::string& path) {
  auto reader = LineReader::Open(path);
  if (!reader) return Fail(reader.error());
  std::vector<std::string> inputs;
  std::string_view line;
  for (;;) {
    const auto got = reader->Next(kForever, line);
    const std::string where = path + " line " + std::to_string(reader->number());
    if (got == LineReader::Got::kNotYet) continue;
    if (got == LineReader::Got::kTooLong) return Fail(ErrorKind::kInvalid, where + " is too long");
    if (got == LineReader::Got::kEnd) break;
    if (!IsJson(line)) return Fail(ErrorKind::kInvalid, where + " is not JSON: " + JsonFaultIn(line));
    if (inputs.size() == kMaxCases)
      return Fail(ErrorKind::kInvalid, path + " has more than " + std::to_string(kMaxCases) + " inputs");
    inputs.emplace_back(line);
  }
  if (!reader->broken().empty()) return Fail(ErrorKind::kInvalid, path + ": " + reader->broken());
  if (inputs.empty()) return Fail(ErrorKind::kInvalid, path + " has no inputs");
  return inputs;
}

int ExecCases(Connection& connection, CasesRequest request) {
  Client& client = connection.client();
  const JobId id = request.spec.id;
  const std::uint64_t count = request.inputs.size();
  const auto taken = client.SubmitCases(request);
  if (!taken) return Complain(taken.error().message, kExitUsage);
  Lines lines;
  WaitingNotice waiting;
  bool cancelled = false;
  for (;;) {
    if (const auto line = waiting.Check(count, client.Health(), SteadyClock::now())) Complain(*line, kExitOk);
    if (Interrupts() > 1) return kExitInterrupted;
    if (Interrupts() > 0 && !std::exchange(cancelled, true)) {
      lines.BeginInterrupt();
      client.Cancel(id);
    }
    if (auto failure = connection.Failure()) return Complain(failure->message, ExitCodeOf(*failure));
    auto event = client.Next(kWait);
    if (!event) continue;
    waiting.Heard();
    if (const auto exit = lines.Take(std::move(*event))) return cancelled ? kExitInterrupted : *exit;
  }
}

}  // namespace skerry::cli
