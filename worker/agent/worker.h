// The worker: takes jobs from the broker, gives each an isolate, and answers each with one FINAL.
//
//   kStarting ──first cell ready──▶ kServing ──SIGTERM──▶ kDraining ──last job done──▶ kStopped
//                                       │                     │ SIGTERM again
//                                       └───REFUSE────────────┴──▶ kAborting: kill, report LOST ──▶ kStopped
//
// Threads: the event loop's. Ownership: owns everything below it. Errors: Run's result is the process's exit
// status.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "worker/agent/broker_link.h"
#include "worker/agent/code_store.h"
#include "worker/agent/event_loop.h"
#include "worker/agent/isolate_manager.h"
#include "worker/agent/job_run.h"
#include "worker/agent/stats_reporter.h"
#include "worker/agent/worker_options.h"

namespace skerry::agent {

class Worker : private LinkListener {
 public:
  Worker(EventLoop& loop, const WorkerOptions& options, CellFactory cells);
  ~Worker() override;

  /// Serves until told to stop. 0: drained; 1: could not start, or the broker refused; 130: aborted.
  int Run();
  /// First: no new jobs, finish those at hand. Second: end them.
  void Terminate();

 private:
  enum class State { kStarting, kServing, kDraining, kAborting, kStopped };

  void OnWelcome(const wire::Welcome& welcome, Memory memory) override;
  void OnMessage(wire::Header header, std::vector<std::string> payloads) override;
  void OnRefused(const std::string& reason) override;

  void OnFirstCell(const Status& started);
  void OnHealth(bool healthy);
  void OnDispatch(wire::Dispatch dispatch, std::vector<std::string> payloads);
  /// False: its code was left out and is not here, which the broker is told; nothing is kept of it.
  bool CompleteCode(const wire::Dispatch& dispatch, std::vector<std::string>& payloads);
  void Start(wire::Dispatch dispatch, std::vector<std::string> payloads);
  /// The broker has given all of them away: they end, and nobody hears of it.
  void AbandonJobs();
  JobRun* JobOf(LeaseId lease);
  void OnJobDone(LeaseId lease);
  void BeginDrain();
  void SendDrain();
  void SendStats();
  void KeepReporting();
  void Abort(int exit_status);
  void StopWhenIdle();
  void Stop(int exit_status);
  wire::Hello Greeting() const;

  EventLoop& loop_;
  const WorkerOptions options_;
  IsolateManager isolates_;
  CodeStore code_;
  BrokerLink link_;
  std::unordered_map<LeaseId, std::unique_ptr<JobRun>> jobs_;  // last: jobs use all of the above
  std::unordered_set<const JobRun*> abandoned_;                // given up and not reaped yet
  /// DISPATCHes that came before the abandoned had left their slots.
  std::deque<std::pair<wire::Dispatch, std::vector<std::string>>> early_;
  std::vector<std::unique_ptr<JobRun>> done_;  // finished in a callback of their own; freed after it
  State state_ = State::kStarting;
  bool healthy_ = true;
  bool broker_knows_drain_ = false;  // so no more DISPATCH is on its way
  StatsReporter reporter_;
  Deadlines::Handle report_timer_;
  Deadlines::Handle patience_;
  int exit_status_ = 0;
};

}  // namespace skerry::agent
