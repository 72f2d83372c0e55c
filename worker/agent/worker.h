// The worker: takes jobs from its brokers, gives each an isolate, and answers each with one FINAL.
//
//   kStarting ──first cell ready──▶ kServing ──SIGTERM──▶ kDraining ──last job done──▶ kStopped
//                                       │                     │ SIGTERM again
//                                       └──every broker refuses┴──▶ kAborting: kill, report LOST ──▶ kStopped
//
// Each broker has a desk (broker_desk.h). A broker that is no longer among its places is drained: what it
// gave is finished, then its desk goes.
//
// Threads: the event loop's. Ownership: owns everything below it. Errors: Run's result is the process's exit
// status.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/brokers/broker_watch.h"
#include "worker/agent/event_loop.h"
#include "worker/agent/isolates/isolate_manager.h"
#include "worker/agent/jobs/code_store.h"
#include "worker/agent/link/broker_desk.h"
#include "worker/agent/link/slot_shares.h"
#include "worker/agent/worker_options.h"

namespace skerry::agent {

class Worker : private DeskListener {
 public:
  Worker(EventLoop& loop, const WorkerOptions& options, CellFactory cells,
         BrokerLookups lookups = RealLookups());
  ~Worker() override;

  /// Serves until told to stop. 0: drained; 1: could not start, or every broker refused; 130: aborted.
  int Run();
  /// First: no new jobs, finish those at hand. Second: end them.
  void Terminate();

 private:
  enum class State { kStarting, kServing, kDraining, kAborting, kStopped };

  void OnSharesChanged() override;
  void OnDeskIdle(BrokerDesk& desk) override;
  void OnDeskRefused(BrokerDesk& desk, const std::string& reason) override;
  Share PromiseTo(BrokerDesk& desk) override;

  void OnFirstCell(const Status& started);
  void LookForBrokers();
  void OnNews(const BrokerWatch::News& news);
  /// Where memory is for fewer largest jobs than there are brokers.
  void WarnOfTurns() const;
  void AddDesk(const BrokerAddress& address);
  /// Frees those that are done; never from inside their own calls.
  void RemoveDoneDesks();
  void Rebalance();
  void OnHealth(bool healthy);
  void SendStats();
  void KeepReporting();
  void BeginDrain();
  void Abort(int exit_status);
  void StopWhenIdle();
  void Stop(int exit_status);
  std::size_t Jobs() const;

  EventLoop& loop_;
  const WorkerOptions options_;
  const BrokerLookups lookups_;
  IsolateManager isolates_;
  CodeStore code_;
  SlotShares shares_;
  std::map<SlotShares::Broker, std::unique_ptr<BrokerDesk>> desks_;  // uses all of the above
  SlotShares::Broker last_desk_ = 0;
  State state_ = State::kStarting;
  bool rebalance_posted_ = false;
  bool removal_posted_ = false;
  WorkerStats told_;                  // to whichever broker
  SlotShares::Broker reporting_ = 0;  // to this one now
  Deadlines::Handle rebalance_timer_;
  Deadlines::Handle report_timer_;
  Deadlines::Handle patience_;
  std::map<SlotShares::Broker, Deadlines::Handle> retries_;  // of brokers that refused
  int exit_status_ = 0;
  std::unique_ptr<BrokerWatch> watch_;  // last: its thread posts to the loop
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace skerry::agent
