#include "clients/cli/job_run.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>
#include <variant>

#include "clients/cli/exit_codes.h"
#include "clients/cli/interrupt.h"
#include "clients/cli/result_line.h"
#include "clients/cli/say.h"

namespace skerry::cli {
namespace {

// Lines read before events get their turn, and the other way round.
constexpr int kLinesPerTurn = 256;
constexpr int kEventsPerTurn = 1024;
// How long to wait for events when there is nothing else to do: the bar moves, signals and dead children are
// noticed.
constexpr Millis kIdleWait{100};
// When stdin may bring the next job at any moment.
constexpr Millis kPipeWait{10};
// Cancelled jobs end within this, or the run leaves without their finals.
constexpr Millis kInterruptGrace{3'000};
// For counting what an interrupt left over; someone waits for the prompt.
constexpr Millis kCountingTime{2'000};
// Programs of earlier lines, for `program: {"hash"}`.
constexpr Bytes kMostPrograms = Bytes::MiB(64);

}  // namespace

JobRun::JobRun(Connection& connection, LineReader& reader, ResultFile& results, JobDefaults defaults,
               Progress& progress)
    : connection_(connection),
      reader_(reader),
      results_(results),
      progress_(progress),
      parser_(std::move(defaults)),
      programs_(kMostPrograms) {}

int JobRun::Execute() {
  while (!exit_code_ && !Done()) {
    if (Interrupts() > 0) BeginInterrupt();
    if (!interrupted_until_) Feed();
    auto event = connection_.client().Next(EventWait());
    for (int taken = 0; event && taken < kEventsPerTurn; ++taken) {
      Handle(std::move(*event));
      if (exit_code_) break;
      event = connection_.client().Next(Millis(0));
    }
    if (event && !exit_code_) Handle(std::move(*event));
    if (auto failure = connection_.Failure()) Stop(ExitCodeOf(*failure), failure->message);
    if (const auto line = waiting_.Check(Unfinished(), connection_.client().Health(), SteadyClock::now())) {
      progress_.Clear();
      Say(*line);
    }
    progress_.Update(tally_, Fraction(), SteadyClock::now());
  }
  if (exit_code_) return *exit_code_;
  if (interrupted_until_) {
    CountNotRun();
    return kExitInterrupted;
  }
  return tally_.errors() + results_.kept_errors() > 0 ? kExitJobsFailed : kExitOk;
}

double JobRun::Fraction() const {
  if (reader_.bytes_total() == 0) return -1;
  const double done = static_cast<double>(tally_.total() + skipped_);
  const double begun = done + static_cast<double>(Unfinished() + (held_ ? 1 : 0));
  // The input is read ahead of the jobs that have ended.
  const double read =
      static_cast<double>(reader_.bytes_consumed()) / static_cast<double>(reader_.bytes_total());
  return begun == 0 ? 0 : read * done / begun;
}

bool JobRun::Done() const {
  if (interrupted_until_) {
    return Unfinished() == 0 || Interrupts() > 1 || SteadyClock::now() >= *interrupted_until_;
  }
  return input_ended_ && !held_ && pending_.empty() && pending_cases_.empty();
}

void JobRun::Stop(int code, std::string why) {
  if (exit_code_) return;
  exit_code_ = code;
  failure_ = std::move(why);
}

Millis JobRun::EventWait() const {
  if (full_ || input_ended_ || interrupted_until_) return kIdleWait;
  return Unfinished() == 0 ? Millis(0) : kPipeWait;
}

void JobRun::BeginInterrupt() {
  if (interrupted_until_) return;
  interrupted_until_ = SteadyClock::now() + kInterruptGrace;
  for (const auto& [id, pending] : pending_) connection_.client().Cancel(id);
  for (const auto& [id, pending] : pending_cases_) connection_.client().Cancel(id);
}

/// Reads the rest of a file, without results; a second interrupt ends that, too.
void JobRun::CountNotRun() {
  not_run_ = Unfinished() + cancelled_;
  if (held_) {
    const auto* cases = std::get_if<CasesRequest>(&*held_);
    not_run_ += cases == nullptr ? 1 : cases->inputs.size();
  }
  counted_ = input_ended_;
  if (reader_.bytes_total() == 0) return;
  const TimePoint deadline = SteadyClock::now() + kCountingTime;
  std::string_view line;
  while (!counted_ && Interrupts() < 2 && SteadyClock::now() < deadline) {
    const auto got = reader_.Next(Millis(0), line);
    counted_ = got == LineReader::Got::kEnd;
    if (got == LineReader::Got::kTooLong) ++not_run_;
    if (got != LineReader::Got::kLine) continue;
    not_run_ += NotRunOf(parser_.Parse(line, reader_.number()));
  }
}

std::uint64_t JobRun::NotRunOf(const std::variant<JobLine, LineFault>& parsed) const {
  const auto* line = std::get_if<JobLine>(&parsed);
  if (line == nullptr) return 1;
  const std::string& id = line->job.spec.id.str();
  if (results_.done().Contains(id) && !results_.HasGrown(id, line->cases.size())) return 0;
  if (line->cases.empty()) return 1;
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < line->cases.size(); ++i) {
    if (!results_.done().Contains(KeptCases::Key(id, i))) ++left;
  }
  return left;
}

void JobRun::Feed() {
  full_ = false;
  for (int lines = 0; lines < kLinesPerTurn && !exit_code_; ++lines) {
    if (!held_ && !ReadJob()) return;
    if (held_) SubmitHeld();
    if (full_) return;
  }
}

/// False: there is nothing to read now. True without held_: the line had its result at once.
bool JobRun::ReadJob() {
  if (input_ended_) return false;
  std::string_view line;
  switch (reader_.Next(Unfinished() == 0 ? kIdleWait : Millis(0), line)) {
    case LineReader::Got::kNotYet:
      return false;
    case LineReader::Got::kEnd:
      input_ended_ = true;
      if (!reader_.broken().empty()) Stop(kExitUsage, reader_.broken());
      return false;
    case LineReader::Got::kTooLong:
      WriteFault(std::to_string(reader_.number()),
                 LineError(reader_.number(), "longer than " + std::to_string(kMaxLineBytes >> 20) + " MiB"));
      return true;
    case LineReader::Got::kLine:
      break;
  }
  auto parsed = parser_.Parse(line, reader_.number());
  if (auto* fault = std::get_if<LineFault>(&parsed)) {
    // A line number does not reserve an id: it would refuse the innocent job that has it.
    const bool first = !fault->has_own_id || seen_.Insert(fault->id);
    if (first && results_.done().Contains(fault->id)) {
      Skip(fault->id, 0);
    } else {
      WriteFault(fault->id, fault->error);
    }
    return true;
  }
  TakeJob(std::get<JobLine>(std::move(parsed)));
  return true;
}

void JobRun::TakeJob(JobLine line) {
  const std::string id = line.job.spec.id.str();
  if (line.program_hash.empty() && (line.job.spec.program || !line.cases.empty())) {
    line.job.program = Program::Of(std::exchange(line.job.code, {}));
    // Whatever becomes of this line, later ones may name it.
    if (line.job.spec.program) programs_.Keep(line.job.program);
  }
  const bool has_result = results_.done().Contains(id);
  const bool first = seen_.Insert(id);
  // A repeated id had its VALIDATION line in the run before.
  if (has_result && (!first || !results_.HasGrown(id, line.cases.size()))) {
    Skip(id, line.cases.size());
  } else if (!first) {
    WriteFault(id, LineError(reader_.number(), "id \"" + id + "\" is repeated"));
  } else {
    held_line_ = reader_.number();
    held_ = Prepare(std::move(line));
  }
}

void JobRun::Skip(const std::string& id, std::size_t cases) {
  skipped_ += std::max<std::size_t>(cases, 1);
  // A run that was killed between writing this result and saying so.
  if (cases == 0) return connection_.client().Acknowledge(JobId(id));
  std::vector<std::uint32_t> numbers(cases);
  std::iota(numbers.begin(), numbers.end(), 0);
  connection_.client().Acknowledge(JobId(id), numbers);
}

std::optional<JobRun::Held> JobRun::Prepare(JobLine line) {
  if (!line.program_hash.empty()) {
    line.job.program = programs_.Find(line.program_hash);
    if (line.job.program == nullptr) {
      WriteFault(line.job.spec.id.str(),
                 LineError(held_line_, "program.hash names no program that an earlier line gave; the last " +
                                           std::to_string(kMostPrograms.mib()) + " MiB of them are kept"));
      return std::nullopt;
    }
  }
  if (line.cases.empty()) return std::move(line.job);
  return PrepareCases(std::move(line));
}

void JobRun::SubmitHeld() {
  auto* cases = std::get_if<CasesRequest>(&*held_);
  auto* job = std::get_if<JobRequest>(&*held_);
  const JobId id = cases != nullptr ? cases->spec.id : job->spec.id;
  const std::uint64_t count = cases != nullptr ? cases->inputs.size() : 0;
  auto taken =
      cases != nullptr ? connection_.client().SubmitCases(*cases) : connection_.client().Submit(*job);
  if (!taken) {
    if (taken.error().kind == ErrorKind::kInvalid) {
      pending_cases_.erase(id);
      WriteFault(id.str(), LineError(held_line_, taken.error().message));
      held_.reset();
    } else {
      Stop(kExitUnavailable, taken.error().message);
    }
  } else if (*taken == SubmitResult::kFull) {
    full_ = true;
  } else {
    if (cases != nullptr) {
      pending_cases_[id].unfinished = count;
      cases_unfinished_ += count;
    } else {
      pending_.emplace(id, Pending{held_line_, {}});
    }
    held_.reset();
  }
}

void JobRun::Handle(ClientEvent event) {
  waiting_.Heard();
  if (auto* notice = std::get_if<JobNotice>(&event)) {
    HandleNotice(*notice);
  } else if (auto* restarted = std::get_if<JobRestarted>(&event)) {
    HandleRestart(*restarted);
  } else if (auto* final = std::get_if<JobFinal>(&event)) {
    if (final->of_case) return HandleCase(std::move(*final));
    HandleFinal(std::move(*final));
  } else if (auto* ended = std::get_if<CasesEnded>(&event)) {
    HandleCasesEnded(*ended);
  } else if (auto* failed = std::get_if<LinkFailed>(&event)) {
    Stop(kExitUnavailable, failed->error.message);
  }
}

void JobRun::HandleNotice(const JobNotice& notice) {
  if (notice.of_case) return AppendEvent(events_of_cases_[notice.id], notice);
  if (auto found = pending_.find(notice.id); found != pending_.end())
    AppendEvent(found->second.events, notice);
}

void JobRun::HandleRestart(const JobRestarted& restarted) {
  events_of_cases_.erase(restarted.id);
  if (auto found = pending_.find(restarted.id); found != pending_.end()) found->second.events.clear();
}

void JobRun::HandleFinal(JobFinal final) {
  const auto found = pending_.find(final.id);
  if (found == pending_.end()) return;
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  const Outcome outcome = Told(std::move(final.outcome), pending.line);
  if (IsOurInterrupts(outcome)) {
    ++cancelled_;
    return;
  }
  Write(final.id, outcome, pending.events);
}

Outcome JobRun::Told(Outcome outcome, std::uint64_t line) {
  outcome = Checked(std::move(outcome));
  if (outcome.error && !outcome.error->started && outcome.error->code == Code::kValidation) {
    outcome.error->message = "line " + std::to_string(line) + ": " + outcome.error->message;
  }
  return outcome;
}

/// What our own interrupt cancelled has no result: --resume runs it.
bool JobRun::IsOurInterrupts(const Outcome& outcome) const {
  return interrupted_until_ && outcome.error && outcome.error->code == Code::kCancelled;
}

void JobRun::WriteFault(const std::string& id, const JobError& error) {
  Outcome outcome;
  outcome.error = error;
  Write(JobId(id), outcome, {});
}

void JobRun::Write(const JobId& id, const Outcome& outcome, const std::string& events) {
  tally_.Count(outcome);
  WriteLine(ResultLine(id, outcome, events));
}

void JobRun::WriteLine(const std::string& line) {
  if (auto wrote = results_.Write(line); !wrote) Stop(kExitCannotWrite, wrote.error().message);
}

}  // namespace skerry::cli
