// What one broker has given this worker: the link to it, and the leases that came over it. Lease numbers are
// each broker's own, so everything about a lease is said here and to no other.
//
//   kOpen ──Drain──▶ kDraining ──jobs done, the broker knows──▶ (DeskListener::OnDeskIdle; Worker closes it)
//     └──REFUSE──▶ kRefused: its jobs are ended without a word, since the broker has taken them away
//
// Threads: the event loop's. Ownership: borrows all of DeskTools, which outlive it; owns its jobs. Never
// destroyed from inside its own call of the listener. Errors: Open fails on an endpoint that ZeroMQ does not
// take.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/brokers/broker_place.h"
#include "worker/agent/event_loop.h"
#include "worker/agent/isolates/isolate_manager.h"
#include "worker/agent/jobs/code_store.h"
#include "worker/agent/jobs/job_run.h"
#include "worker/agent/link/broker_link.h"
#include "worker/agent/link/slot_shares.h"
#include "worker/agent/link/stats_reporter.h"
#include "worker/agent/worker_options.h"

namespace skerry::agent {

class BrokerDesk;

class DeskListener {
 public:
  virtual ~DeskListener() = default;
  /// Its WELCOME came, it has lost what it was promised, or a share that was taken back is free.
  virtual void OnSharesChanged() = 0;
  /// It has no job left, or knows now that it is to send none.
  virtual void OnDeskIdle(BrokerDesk& desk) = 0;
  virtual void OnDeskRefused(BrokerDesk& desk, const std::string& reason) = 0;
  /// What a new connection's HELLO may promise, beside who this worker is.
  virtual Share PromiseTo(BrokerDesk& desk) = 0;
};

struct DeskTools {
  EventLoop& loop;
  IsolateManager& isolates;
  CodeStore& code;
  SlotShares& shares;
  const WorkerOptions& options;
  DeskListener& listener;
};

class BrokerDesk : private LinkListener {
 public:
  /// `session`: its broker's name for this worker; no two desks share one, which may be two ways to one
  /// broker.
  BrokerDesk(DeskTools tools, SlotShares::Broker number, BrokerAddress address, SessionId session);
  ~BrokerDesk() override;

  Status Open();
  SlotShares::Broker number() const { return number_; }
  const BrokerAddress& address() const { return address_; }
  bool connected() const { return link_.connected(); }
  bool refused() const { return refused_; }
  bool draining() const { return draining_; }
  std::size_t jobs() const { return jobs_.size() + early_.size(); }
  /// Nothing is left to do for it, and nothing more comes.
  bool Done() const { return draining_ && jobs() == 0 && broker_knows_drain_; }

  /// Tells it of its share.
  void Offer(const SlotShares::Offer& offer);
  /// It keeps silent about a share that was taken back: only a new connection makes that sure.
  void Reconnect();
  void Drain();
  /// The broker need not know: it had its time.
  void DrainUnheard() { broker_knows_drain_ = true; }
  void StopJobs(Cause cause);
  void Close(Millis patience);

  /// Whether it takes figures at all.
  bool TakesStats() const { return connected() && reporter_.wanted(); }
  StatsReporter& reporter() { return reporter_; }
  void SendStats(const WorkerStats& figures);

 private:
  struct Held {
    std::unique_ptr<JobRun> run;
    Share share;
    bool abandoned = false;  // given up by the broker, and not reaped yet
  };

  void OnWelcome(const wire::Welcome& welcome, Memory memory) override;
  void OnMessage(wire::Header header, std::vector<std::string> payloads) override;
  void OnRefused(const std::string& reason) override;
  void OnCutOff() override;

  wire::Hello Greeting();
  void OnDispatch(wire::Dispatch dispatch, std::vector<std::string> payloads);
  void OnCancel(LeaseId lease);
  /// False: its code was left out and is not here, which the broker is told; nothing is kept of it.
  bool CompleteCode(const wire::Dispatch& dispatch, std::vector<std::string>& payloads);
  void Start(wire::Dispatch dispatch, std::vector<std::string> payloads);
  void RefuseForRoom(const wire::Dispatch& dispatch, const Error& error);
  void AbandonJobs();
  void SendDrain();
  JobRun* JobOf(LeaseId lease);
  void OnJobDone(LeaseId lease);
  /// They hold slots that the broker counts as free.
  bool AbandonedAreInTheWay() const;
  void StartEarly();

  DeskTools tools_;
  const SlotShares::Broker number_;
  const BrokerAddress address_;
  const SessionId session_;
  StatsReporter reporter_;
  BrokerLink link_;
  std::unordered_map<LeaseId, Held> jobs_;  // after the link, which they use
  std::size_t abandoned_ = 0;               // of jobs_
  /// DISPATCHes that came before the abandoned had left their slots.
  std::deque<std::pair<wire::Dispatch, std::vector<std::string>>> early_;
  std::vector<std::unique_ptr<JobRun>> done_;  // finished in a callback of their own; freed after it
  bool refused_ = false;
  bool draining_ = false;
  bool broker_knows_drain_ = false;  // so no more DISPATCH is on its way
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace skerry::agent
