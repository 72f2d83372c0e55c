#include "clients/cli/job_run.h"

#include <cstdio>
#include <utility>
#include <variant>

#include "clients/cli/exit_codes.h"
#include "clients/cli/interrupt.h"
#include "clients/cli/result_line.h"

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

}  // namespace

JobRun::JobRun(Connection& connection, LineReader& reader, ResultFile& results, JobDefaults defaults,
               Progress& progress)
    : connection_(connection),
      reader_(reader),
      results_(results),
      progress_(progress),
      parser_(std::move(defaults)) {}

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
    if (const auto line =
            waiting_.Check(pending_.size(), connection_.client().Health(), SteadyClock::now())) {
      progress_.Clear();
      std::fprintf(stderr, "skerry: %s\n", line->c_str());
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
  const double begun = done + static_cast<double>(pending_.size() + (held_ ? 1 : 0));
  // The input is read ahead of the jobs that have ended.
  const double read =
      static_cast<double>(reader_.bytes_consumed()) / static_cast<double>(reader_.bytes_total());
  return begun == 0 ? 0 : read * done / begun;
}

bool JobRun::Done() const {
  if (interrupted_until_) {
    return pending_.empty() || Interrupts() > 1 || SteadyClock::now() >= *interrupted_until_;
  }
  return input_ended_ && !held_ && pending_.empty();
}

void JobRun::Stop(int code, std::string why) {
  if (exit_code_) return;
  exit_code_ = code;
  failure_ = std::move(why);
}

Millis JobRun::EventWait() const {
  if (full_ || input_ended_ || interrupted_until_) return kIdleWait;
  return pending_.empty() ? Millis(0) : kPipeWait;
}

void JobRun::BeginInterrupt() {
  if (interrupted_until_) return;
  interrupted_until_ = SteadyClock::now() + kInterruptGrace;
  for (const auto& [id, pending] : pending_) connection_.client().Cancel(id);
}

/// Reads the rest of a file, without results; a second interrupt ends that, too.
void JobRun::CountNotRun() {
  not_run_ = pending_.size() + cancelled_ + (held_ ? 1 : 0);
  counted_ = input_ended_;
  if (reader_.bytes_total() == 0) return;
  const TimePoint deadline = SteadyClock::now() + kCountingTime;
  std::string_view line;
  while (!counted_ && Interrupts() < 2 && SteadyClock::now() < deadline) {
    const auto got = reader_.Next(Millis(0), line);
    counted_ = got == LineReader::Got::kEnd;
    if (got == LineReader::Got::kTooLong) ++not_run_;
    if (got != LineReader::Got::kLine) continue;
    const auto parsed = parser_.Parse(line, reader_.number());
    const auto* job = std::get_if<JobRequest>(&parsed);
    if (job == nullptr || !results_.done().Contains(job->spec.id.str())) ++not_run_;
  }
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
  switch (reader_.Next(pending_.empty() ? kIdleWait : Millis(0), line)) {
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
      Skip(fault->id);
    } else {
      WriteFault(fault->id, fault->error);
    }
    return true;
  }
  auto& job = std::get<JobRequest>(parsed);
  const std::string id = job.spec.id.str();
  if (results_.done().Contains(id)) {
    // A repeated id had its VALIDATION line in the run before.
    seen_.Insert(id);
    Skip(id);
  } else if (!seen_.Insert(id)) {
    WriteFault(id, LineError(reader_.number(), "id \"" + id + "\" is repeated"));
  } else {
    held_ = std::move(job);
    held_line_ = reader_.number();
  }
  return true;
}

void JobRun::Skip(const std::string& id) {
  ++skipped_;
  // A run that was killed between writing this result and saying so.
  connection_.client().Acknowledge(JobId(id));
}

void JobRun::SubmitHeld() {
  const JobId id = held_->spec.id;
  auto taken = connection_.client().Submit(*held_);
  if (!taken) {
    if (taken.error().kind == ErrorKind::kInvalid) {
      WriteFault(id.str(), LineError(held_line_, taken.error().message));
      held_.reset();
    } else {
      Stop(kExitUnavailable, taken.error().message);
    }
  } else if (*taken == SubmitResult::kFull) {
    full_ = true;
  } else {
    pending_.emplace(id, Pending{held_line_, {}});
    held_.reset();
  }
}

void JobRun::Handle(ClientEvent event) {
  waiting_.Heard();
  if (auto* notice = std::get_if<JobNotice>(&event)) {
    if (auto found = pending_.find(notice->id); found != pending_.end())
      AppendEvent(found->second.events, *notice);
  } else if (auto* restarted = std::get_if<JobRestarted>(&event)) {
    if (auto found = pending_.find(restarted->id); found != pending_.end()) found->second.events.clear();
  } else if (auto* final = std::get_if<JobFinal>(&event)) {
    HandleFinal(std::move(*final));
  } else if (auto* failed = std::get_if<LinkFailed>(&event)) {
    Stop(kExitUnavailable, failed->error.message);
  }
}

void JobRun::HandleFinal(JobFinal final) {
  const auto found = pending_.find(final.id);
  if (found == pending_.end()) return;
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  Outcome outcome = Checked(std::move(final.outcome));
  if (outcome.error && !outcome.error->started && outcome.error->code == Code::kValidation) {
    outcome.error->message = "line " + std::to_string(pending.line) + ": " + outcome.error->message;
  }
  // What our own interrupt cancelled has no result: --resume runs it.
  if (interrupted_until_ && outcome.error && outcome.error->code == Code::kCancelled) {
    ++cancelled_;
    return;
  }
  Write(final.id, outcome, pending.events);
}

void JobRun::WriteFault(const std::string& id, const JobError& error) {
  Outcome outcome;
  outcome.error = error;
  Write(JobId(id), outcome, {});
}

void JobRun::Write(const JobId& id, const Outcome& outcome, const std::string& events) {
  tally_.Count(outcome);
  if (auto wrote = results_.Write(ResultLine(id, outcome, events)); !wrote) {
    Stop(kExitCannotWrite, wrote.error().message);
  }
}

}  // namespace skerry::cli
