// One run: a job on an isolate, from hand-over to reaping. Sets the outer limits, sends the job, reads what
// comes back, keeps the clocks, kills, reaps. The states are in run_state.h, the judgement in verdict.h; this
// is the shell that has descriptors and timers.
//
// Threads: the event loop's.
// Ownership: owns the isolate; borrows the plan and the OOM killer's count, which must outlive it. The
// listener may destroy the run inside OnRunEnded, and only there. Errors: none; whatever goes wrong is a
// verdict.
#pragma once

#include <memory>
#include <string>

#include "common/logging.h"
#include "worker/agent/event_loop.h"
#include "worker/agent/isolates/isolate.h"
#include "worker/agent/isolates/isolate_port.h"
#include "worker/agent/isolates/oom_kills.h"
#include "worker/agent/jobs/event_gate.h"
#include "worker/agent/jobs/job_plan.h"
#include "worker/agent/jobs/limit_watch.h"
#include "worker/agent/jobs/run_state.h"
#include "worker/agent/jobs/verdict.h"

namespace skerry::agent {

class RunListener {
 public:
  virtual ~RunListener() = default;
  /// False: it could not be sent on; it is counted as dropped.
  virtual bool OnRunEvent(wire::Event event, std::string payload) = 0;
  virtual void OnRunCall(wire::Call call, std::string method, std::string params) = 0;
  /// The process is reaped, or released() to run other jobs; verdict(), usage() and made_host_call() are
  /// complete.
  virtual void OnRunEnded() = 0;
};

class IsolateRun {
 public:
  IsolateRun(EventLoop& loop, Isolate isolate, const JobPlan& plan, std::uint32_t attempt,
             OomKills& oom_kills, RunListener& listener);
  IsolateRun(const IsolateRun&) = delete;
  IsolateRun& operator=(const IsolateRun&) = delete;

  /// Sets the limits and begins to send.
  void Start();
  /// A host's answer; one for a call that is not open is dropped.
  void Answer(std::uint32_t call, wire::AnswerKind kind, std::string payload);
  /// Kills it for this cause, unless its end is decided already.
  void Stop(Cause cause, std::string why = {});

  const Verdict& verdict() const { return verdict_; }
  /// Its isolate lives on and is the caller's, who takes it inside OnRunEnded.
  bool released() const { return state_ == RunState::kReleased; }
  Isolate TakeIsolate();
  /// With what it may have sent behind its final.
  IsolatePort TakePort() { return std::move(port_); }
  /// Earlier jobs had run in the isolate.
  bool used_isolate() const { return used_; }
  /// How the process ended, where it was not released; only inside OnRunEnded and after.
  const ExitStatus& exit_status() const { return *exit_; }
  pid_t pid() const { return isolate_.pid(); }
  CellNumber cell() const { return isolate_.cell(); }
  DerivedNumber derived_cell() const { return isolate_.descent().derived; }
  const V8Build& v8() const { return isolate_.v8(); }
  /// Of Math.random in this run.
  std::uint64_t seed() const { return seed_; }
  bool made_host_call() const { return gate_.made_host_call(); }
  /// Everything that the worker measures; what only the engine knows is in the verdict's outcome.
  Usage usage() const;

 private:
  void Apply(RunEvent event);
  void LogStep(LogText step) const;
  Status SetLimits();
  void SendJob();
  void FlushOut();
  void StartClocks();
  void AwaitExit();
  void LetGoOrKill();
  bool MayRunAnother();
  void KillProcess();
  void CheckLimits();
  LimitWatch::Readings TakeReadings() const;

  void OnSocketReadable();
  void HandleFrames();
  void HandleFrame(wire::Frame frame);
  void HandleEvent(wire::Event event, std::vector<std::string> payloads);
  void HandleCall(wire::Call call, std::vector<std::string> payloads);
  void HandleFinal(const wire::Final& final, std::vector<std::string> payloads);
  bool distrusted() const;
  void OnPeerClosed();
  bool HadEnded();
  /// True where the process has exited: its end is said, and this may be gone.
  bool TryEnd();
  MemoryEvidence JudgeDeath();

  EventLoop& loop_;
  const JobPlan& plan_;
  const std::uint32_t attempt_;
  const std::uint64_t seed_;
  OomKills& oom_kills_;
  RunListener& listener_;

  Isolate isolate_;
  IsolatePort port_;
  EventLoop::Watch socket_watch_;  // after the isolate: destroyed before its descriptors close
  EventLoop::Watch exit_watch_;
  Deadlines::Handle timer_;  // of the current state: hand-over, limits, or grace
  Deadlines::Handle eof_timer_;

  RunState state_ = RunState::kSending;
  Verdict verdict_;
  EventGate gate_;
  LimitWatch watch_;
  MemoryReading baseline_;
  Micros cpu_baseline_{0};
  TimePoint sent_at_{};
  TimePoint ended_at_{};  // final read, killed, or found dead
  std::optional<ExitStatus> exit_;
  const bool reusable_;  ///< its job shares isolates
  const bool used_;      ///< earlier jobs have run in this one
  Bytes earlier_peak_;   ///< resident, of the isolate's earlier jobs
  Bytes seen_peak_;      ///< of growth, by the memory watch
  Micros cpu_at_release_{0};
  Bytes growth_at_release_;
};

}  // namespace skerry::agent
