#include "worker/agent/jobs/verdict.h"

#include <signal.h>

#include <array>
#include <utility>

#include "common/printable.h"
#include "worker/agent/jobs/final_record.h"

namespace skerry::agent {
namespace {

// Pages of program files that a run touches count in ru_maxrss but are nobody's memory; a trivial job faults
// in some 4 to 8 MiB of V8's text.
constexpr Bytes kFilePages = Bytes::MiB(8);
constexpr std::size_t kMaxWhyBytes = 512;

struct SignalName {
  int signal;
  std::string_view name;
};
// DESIGN section 3, CRASH.
constexpr std::array<SignalName, 7> kCrashSignals = {{{SIGSEGV, "SIGSEGV"},
                                                      {SIGBUS, "SIGBUS"},
                                                      {SIGILL, "SIGILL"},
                                                      {SIGTRAP, "SIGTRAP"},
                                                      {SIGFPE, "SIGFPE"},
                                                      {SIGABRT, "SIGABRT"},
                                                      {SIGSYS, "SIGSYS"}}};

std::string_view CrashSignalName(int signal) {
  for (const auto& row : kCrashSignals) {
    if (row.signal == signal) return row.name;
  }
  return {};
}

std::string SignalText(int signal) {
  if (const auto name = CrashSignalName(signal); !name.empty()) return std::string(name);
  if (signal == SIGKILL) return "SIGKILL";
  return "signal " + std::to_string(signal);
}

// No fault of a program has the kernel send another than those of a crash: an operator did, or a stranger, or
// the kernel's OOM killer.
bool ComesFromOutside(int signal) {
  return CrashSignalName(signal).empty();
}

// A want of memory shows up as these (DESIGN section 6.7). A forbidden system call or a division never does.
bool MayBeWantOfMemory(int signal) {
  return signal != SIGSYS && signal != SIGFPE;
}

bool RetiresCell(int signal) {
  return signal == SIGSEGV || signal == SIGILL || signal == SIGTRAP || signal == SIGSYS;
}

bool MayRunAgain(const RerunPolicy& policy) {
  return policy.may_run_again && AllowsAnotherRun(policy.retry, policy.made_host_call);
}

}  // namespace

std::string_view NameOf(Cause cause) {
  switch (cause) {
    case Cause::kWallClock:
      return "wallClock";
    case Cause::kCpuClock:
      return "cpuClock";
    case Cause::kMemory:
      return "memory";
    case Cause::kCancelled:
      return "cancelled";
    case Cause::kProtocolBroken:
      return "protocolBroken";
    case Cause::kAborted:
      return "aborted";
    case Cause::kHandOver:
      return "handOver";
    case Cause::kForbiddenCall:
      return "forbiddenCall";
  }
  return {};
}

MemoryEvidence JudgeMemory(Bytes peak_resident, Bytes baseline, std::uint64_t memory_mb) {
  const Bytes near(Bytes::MiB(memory_mb).count() / 10 * 9);
  return peak_resident - baseline >= near + kFilePages ? MemoryEvidence::kYes : MemoryEvidence::kNo;
}

bool Verdict::FinalRecord(const wire::Final& final, std::string payload) {
  if (decided()) return false;
  if (!started_) {
    Record(Cause::kProtocolBroken, "a final before the job was sent");
    return false;
  }
  auto outcome = CheckFinal(final, std::move(payload), limits_, encoding_);
  if (!outcome) {
    Record(Cause::kProtocolBroken, outcome.error().message);
    return false;
  }
  outcome->attempt = attempt_;
  final_ = std::move(*outcome);
  return true;
}

bool Verdict::Record(Cause cause, std::string why) {
  if (decided()) return false;
  cause_ = cause;
  if (why.size() > kMaxWhyBytes) why.resize(kMaxWhyBytes);
  why_ = PrintableAscii(std::move(why));  // it can quote what the isolate sent
  return true;
}

void Verdict::Exited(const ExitStatus& status, MemoryEvidence evidence) {
  if (exit_) return;
  exit_ = status;
  evidence_ = evidence;
}

Decision Verdict::Decide(const RerunPolicy& policy) const {
  Decision decision;
  const bool no_program_ran = !started_ && !final_;
  const bool told_to_stop = cause_ == Cause::kCancelled || cause_ == Cause::kAborted;
  if (final_) {
    decision.outcome = *final_;
  } else if (no_program_ran && !told_to_stop) {
    decision = HandOverFailed(policy);
  } else if (cause_) {
    decision = Ended(ErrorOf(*cause_));
    // As any other death by a signal that came from inside.
    if (cause_ == Cause::kForbiddenCall && MayRunAgain(policy)) decision.rerun = Rerun::kAsNextAttempt;
  } else {
    decision = DecideByExit(policy);
  }
  decision.crashed = decision.outcome.error && decision.outcome.error->code == Code::kCrash;
  if (policy.used_isolate && started_ && !told_to_stop) decision = BlameNoneOf(std::move(decision), policy);
  decision.outcome.attempt = attempt_;
  decision.retire_cell = (exit_ && RetiresCell(exit_->signal)) || cause_ == Cause::kForbiddenCall;
  return decision;
}

JobError Verdict::ErrorOf(Cause cause) const {
  const auto limit = [&](Code code, LimitId id, const std::string& what) {
    return MakeError(code,
                     what + " " + std::string(NameOf(id)) + " (" + std::to_string(limits_.Get(id)) + ")",
                     std::string(NameOf(id)));
  };
  switch (cause) {
    case Cause::kWallClock:
      return limit(Code::kTimeout, LimitId::kTimeoutMs, "the job ran longer than");
    case Cause::kCpuClock:
      return limit(Code::kTimeout, LimitId::kCpuMs, "the job used more CPU time than");
    case Cause::kMemory:
      return limit(Code::kOom, LimitId::kMemoryMb, "the job used more memory than");
    case Cause::kCancelled:
      return MakeError(Code::kCancelled, "the job was cancelled");
    case Cause::kProtocolBroken:
      return MakeError(Code::kCrash, "the job's process broke the protocol: " + why_);
    case Cause::kHandOver:
      return MakeError(Code::kLost, "the job could not be handed over: " + why_);
    case Cause::kForbiddenCall:
      return MakeError(Code::kCrash,
                       "the job's process died of SIGSYS: it made the forbidden system call " + why_);
    case Cause::kAborted:
      break;
  }
  return MakeError(Code::kLost, "the worker was stopped while the job ran");
}

Decision Verdict::DecideByExit(const RerunPolicy& policy) const {
  const int signal = exit_ ? exit_->signal : SIGKILL;
  if (signal == 0)
    return Ended(MakeError(Code::kCrash, "the job's process " + DescribeExit() + " without a result"));
  if (evidence_ == MemoryEvidence::kYes && MayBeWantOfMemory(signal)) return Ended(ErrorOf(Cause::kMemory));
  if (evidence_ == MemoryEvidence::kOomKiller && signal == SIGKILL) return MachineShortOfMemory(policy);
  const std::string what = "the job's process " + DescribeExit();
  Decision decision =
      ComesFromOutside(signal)
          ? Ended(MakeError(Code::kLost, what + ", sent by neither the worker nor a memory limit"))
          : Ended(MakeError(Code::kCrash, what));
  if (MayRunAgain(policy)) decision.rerun = Rerun::kAsNextAttempt;
  return decision;
}

// No limit of the job's has tripped, so none is named; with more room the same job may end well.
Decision Verdict::MachineShortOfMemory(const RerunPolicy& policy) const {
  JobError error =
      MakeError(Code::kOom,
                "the machine or its control group ran out of memory, and the kernel's OOM killer "
                "took the job's process, which was within its memoryMb (" +
                    std::to_string(limits_.memory_mb()) + ")");
  error.fault = Fault::kInfrastructure;
  error.retryable = true;
  Decision decision = Ended(std::move(error));
  if (MayRunAgain(policy)) decision.rerun = Rerun::kAsNextAttempt;
  return decision;
}

Decision Verdict::HandOverFailed(const RerunPolicy& policy) const {
  const std::string why = !why_.empty() ? why_ : "its process " + DescribeExit();
  Decision decision = Ended(MakeError(Code::kLost, "the job could not be handed over: " + why));
  if (policy.may_hand_over_again) decision.rerun = Rerun::kAsSameAttempt;
  return decision;
}

// What native code of an earlier job can bring about, and what its garbage can. In a fresh isolate the
// program's own faults come again, and are its own. The wall clock is kept by the worker, what earlier jobs
// add to it is a collection of bounded garbage, and no time is ever exact: where it may not run again that
// verdict stands.
Decision Verdict::BlameNoneOf(Decision decision, const RerunPolicy& policy) const {
  if (!decision.outcome.error) return decision;
  const JobError& error = *decision.outcome.error;
  const bool may_be_others = error.code == Code::kOom || error.code == Code::kCrash ||
                             error.code == Code::kLost || error.code == Code::kTimeout;
  if (!may_be_others) return decision;
  if (MayRunAgain(policy)) {
    decision.rerun = Rerun::kAsNextAttempt;
  } else if (cause_ != Cause::kWallClock && error.fault != Fault::kInfrastructure) {
    decision.outcome.error =
        MakeError(Code::kLost, "earlier jobs ran in its isolate and may have caused this: " + error.message);
    decision.outcome.error->started = started_;
  }
  return decision;
}

bool Verdict::LeavesIsolateGood() const {
  if (!final_ || exit_) return false;
  if (final_->ok()) return true;
  const Code code = final_->error->code;
  return code == Code::kCompile || code == Code::kRuntime || code == Code::kValidation;
}

Decision Verdict::Ended(JobError error) const {
  Decision decision;
  error.started = started_;
  decision.outcome.error = std::move(error);
  return decision;
}

std::string Verdict::DescribeExit() const {
  if (!exit_) return "ended";
  if (exit_->signal == 0) return "exited with status " + std::to_string(exit_->code);
  return "died of " + SignalText(exit_->signal);
}

}  // namespace skerry::agent
