// How one run of a job ended: collects what happened, first cause wins, and says it once the process is
// reaped.
//
//   Verdict verdict(limits, attempt);
//   verdict.JobSent();
//   if (verdict.Record(Cause::kTimeout)) kill...;      // false: something else came first
//   verdict.Exited(status, evidence);
//   Decision decision = verdict.Decide(policy);
//
// What ended a run, in order of arrival:
//   a final record read whole            its own outcome (it stands against whatever comes later)
//   Record(cause)                        the worker decided to kill, or was told to
//   neither, and the process is gone     its exit status speaks (DESIGN section 3, CRASH and LOST)
// Whatever it was, if the job's last byte had not been written it is the infrastructure's fault: no program
// has run.
//
// Threads: plain data, no clock, no descriptors. Errors: none; hostile input becomes Cause::kProtocolBroken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/job.h"
#include "common/limits.h"
#include "common/outcome.h"
#include "common/wire/messages.h"
#include "worker/agent/process.h"

namespace skerry::agent {

/// Why the worker ends a run that has no final yet.
enum class Cause : std::uint8_t {
  kWallClock,       ///< timeoutMs
  kCpuClock,        ///< cpuMs
  kMemory,          ///< the memory watch saw it past its budget
  kCancelled,       ///< the client asked
  kProtocolBroken,  ///< what it sent is not the protocol
  kAborted,         ///< the worker is being stopped at once
  kHandOver,        ///< the job could not be handed over
  kForbiddenCall,   ///< it made a system call that is not on the list
};
inline constexpr int kCauseCount = 8;
/// Empty for what is no cause.
std::string_view NameOf(Cause cause);

/// Whether a death by signal was for want of memory, and whose.
enum class MemoryEvidence : std::uint8_t {
  kNo,
  kYes,        ///< the process was near its own memory bound
  kOomKiller,  ///< it was not, but the kernel's OOM killer took it: the machine or its group was short
};
/// Peak resident growth over hand-over, against the job's budget.
MemoryEvidence JudgeMemory(Bytes peak_resident, Bytes baseline, std::uint64_t memory_mb);

enum class Rerun : std::uint8_t {
  kNo,
  kAsNextAttempt,  ///< it had started; the next run counts as another attempt
  kAsSameAttempt,  ///< no program had run
};

/// What the caller knows and the verdict does not.
struct RerunPolicy {
  Retry retry = Retry::kSafe;
  bool made_host_call = false;
  bool may_run_again = true;        ///< not yet re-run after a death
  bool may_hand_over_again = true;  ///< not yet given up on handing over
  /// Earlier jobs have run in its isolate: what becomes of it may be their doing (decision 16).
  bool used_isolate = false;
};

struct Decision {
  Outcome outcome;  ///< without what the caller measures: wall, CPU and memory usage, event counts
  Rerun rerun = Rerun::kNo;
  bool crashed = false;  ///< it was a CRASH, whoever is blamed for it
  bool retire_cell =
      false;  ///< SEGV, ILL, TRAP, SYS: forks share layout and canaries, so no second try at them
};

class Verdict {
 public:
  Verdict(const Limits& limits, std::uint32_t attempt, Encoding encoding = Encoding::kJson)
      : limits_(limits), attempt_(attempt), encoding_(encoding) {}

  /// The job's last byte is written: the program may be running.
  void JobSent() { started_ = true; }
  bool started() const { return started_; }

  /// A final record, read whole. True: it is the end of the job. False: something else came first (a cause,
  /// or an earlier final), or the record is not one that an isolate may send, which is recorded as
  /// kProtocolBroken.
  bool FinalRecord(const wire::Final& final, std::string payload);
  /// True: this is the first cause, and the caller kills.
  bool Record(Cause cause, std::string why = {});
  /// What comes from now on changes nothing.
  bool decided() const { return final_.has_value() || cause_.has_value() || exit_.has_value(); }
  bool has_final() const { return final_.has_value(); }
  /// The program ended by itself, so that its isolate may run another.
  bool LeavesIsolateGood() const;
  std::optional<Cause> cause() const { return cause_; }
  MemoryEvidence evidence() const { return evidence_; }

  /// Once, when everything that the process had sent has been read.
  void Exited(const ExitStatus& status, MemoryEvidence evidence);
  /// Once it has exited.
  Decision Decide(const RerunPolicy& policy) const;

 private:
  JobError ErrorOf(Cause cause) const;
  Decision DecideByExit(const RerunPolicy& policy) const;
  Decision MachineShortOfMemory(const RerunPolicy& policy) const;
  Decision HandOverFailed(const RerunPolicy& policy) const;
  Decision Ended(JobError error) const;
  Decision BlameNoneOf(Decision decision, const RerunPolicy& policy) const;
  std::string DescribeExit() const;

  Limits limits_;
  std::uint32_t attempt_;
  Encoding encoding_;
  bool started_ = false;
  std::optional<Outcome> final_;
  std::optional<Cause> cause_;
  std::string why_;
  std::optional<ExitStatus> exit_;
  MemoryEvidence evidence_ = MemoryEvidence::kNo;
};

}  // namespace skerry::agent
