// A lease at work: one dispatched job, from acceptance to its FINAL, over as many runs as it takes.
//
//   (hashing, where a receipt is asked for)
//            │
//   waiting for an isolate ──▶ running (isolate_run.h) ──reaped──▶ FINAL
//            ▲                                          │
//            └─────────── run again (verdict.h) ────────┘
//
// Threads: the event loop's.
// Ownership: owns its lease and its run. `done` is the last thing that it calls, and may destroy it.
// Errors: none; every way it can go ends in exactly one FINAL.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "worker/agent/event_loop.h"
#include "worker/agent/isolates/isolate_manager.h"
#include "worker/agent/isolates/isolate_run.h"
#include "worker/agent/jobs/job_plan.h"
#include "worker/agent/jobs/receipt.h"
#include "worker/agent/link/uplink.h"

namespace skerry::agent {

class JobRun : private RunListener {
 public:
  JobRun(EventLoop& loop, IsolateManager& isolates, Uplink& uplink, JobPlan plan, Lease lease,
         std::function<void()> done);

  /// Call once. May finish, and call `done`, before it returns.
  void Begin();
  void Answer(const wire::Answer& answer, std::string payload);
  /// Ends the job: kCancelled or kAborted.
  void Stop(Cause cause);
  /// Ends the job and says nothing more about it: it is the broker's to run elsewhere.
  void Abandon();

 private:
  bool OnRunEvent(wire::Event event, std::string payload) override;
  void OnRunCall(wire::Call call, std::string method, std::string params) override;
  void OnRunEnded() override;

  void HashContent();
  void SeekIsolate();
  WaitingJobs::Ready TakeIsolate();
  /// There is no isolate for it.
  void GoWithout(const Error& why);
  /// False: none that earlier jobs of its kind have left, or may not be given one.
  bool SeekUsedIsolate();
  void Run(Isolate isolate);
  void TellManager(const Decision& decision);
  void RunAgain(const Decision& decision);
  void Finish(Outcome outcome);
  JobError NotRunning(Code code, std::string message) const;

  EventLoop& loop_;
  IsolateManager& isolates_;
  Uplink& uplink_;
  const JobPlan plan_;
  Lease lease_;
  std::function<void()> done_;

  ContentHashes content_;  // where a receipt is asked for
  Deadlines::Handle next_hashing_;
  std::string receipt_;  // of the last run that started
  std::uint32_t attempt_;
  bool started_ = false;       // in any attempt
  bool abandoned_ = false;     // nobody listens
  int deaths_ = 0;             // runs that ended in a way that may be tried again
  std::uint32_t crashes_ = 0;  // of its runs, whatever their causes and whether or not another followed
  int failed_hand_overs_ = 0;
  bool from_beginning_ = false;  // whatever is kept of its program
  bool fresh_only_ = false;      // it has run, and is not to be run again where others have
  IsolateManager::Ticket ticket_;
  IsolateKeeper::Ticket used_ticket_;
  std::optional<IsolateRun> run_;
  ForbiddenCallWatch::Registration forbidden_calls_;
};

/// The FINAL of a job that never got as far as a JobRun.
void SendRefusal(Uplink& uplink, const wire::Dispatch& dispatch, JobError error);

}  // namespace skerry::agent
