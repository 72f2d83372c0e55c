// The broker without sockets: events in with the time they happened, sends out in order.
//
//   core.OnMessage(peer, std::move(header), std::move(payloads), now);
//   for (Send& send : core.TakeSends()) ...
//
// It says HELLO and PING with its peers, tells the living from the dead, and hands everything about jobs to
// JobLedger. Deterministic: the same events at the same times give the same sends.
//
// Threads: one. Ownership: owns every session, worker and job. Errors: a client that breaks the protocol is
// refused; a worker that does, or that lies (worker_conduct.h), is cut off.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "broker/broker_report.h"
#include "broker/config.h"
#include "broker/jobs/job_ledger.h"
#include "broker/metrics/counters.h"
#include "broker/metrics/gauges.h"
#include "broker/outbox.h"
#include "broker/sessions/session_registry.h"
#include "broker/tenants/tenant_rates.h"
#include "broker/workers/quarantine.h"
#include "broker/workers/worker_registry.h"

namespace skerry::broker {

/// Whether a job has counted in its rates, or was answered otherwise.
enum class VerdictUse : bool { kUnused, kUsed };

class BrokerCore {
 public:
  /// `config` must be valid (BrokerConfig::Validate).
  BrokerCore(const BrokerConfig& config, TimePoint now);

  void OnMessage(const Peer& from, wire::Header header, std::vector<Payload> payloads, TimePoint now);
  /// A message that does not decode; `why` goes back to the peer.
  void OnMalformed(const Peer& from, const std::string& why, TimePoint now);
  /// A message of a type that only newer peers know: ignored, since what matters to both was negotiated.
  void OnUnknownType(const Peer& from, TimePoint now);
  /// `send` was not taken: the peer is gone, or reads too slowly to be kept waiting for.
  void OnUndeliverable(Send send, TimePoint now);
  /// A connection that never became a peer.
  void OnHandshakeRefused(HandshakeRefusal why);
  /// A message by a key that is authorized no more: it is dropped unread.
  void OnUnheard();
  /// Other keys are authorized now: who came in by one that is not is refused; clients' jobs end, workers'
  /// run elsewhere. All others go on.
  void OnKeysChanged(const std::function<bool(const Identity&)>& allowed, TimePoint now);
  /// It ends in order: clients need not wait for its silence to know that it is gone.
  void OnStop() {
    for (const Session* session : sessions_.All()) {
      if (session->state == SessionState::kLinked) outbox_.Put(session->link, wire::Bye{});
    }
  }
  /// To be called at NextWake(), or earlier.
  void OnTick(TimePoint now);
  TimePoint NextWake() const;

  /// What tenants may have from now on: none is known before the first of these.
  void SetTenants(Tenants tenants, TimePoint now);

  // Of rates that brokers share (submit_gate.h).
  /// What has to be asked before this message is heard; none: nothing.
  std::optional<RateAsk> AskFor(const Peer& from, const wire::Header& header);
  /// A SUBMIT that was asked about.
  VerdictUse OnRatedSubmit(const Peer& from, wire::Header header, std::vector<Payload> payloads,
                           const RateVerdict& verdict, TimePoint now);
  void ShareRates(RateSharing sharing, std::uint64_t brokers);
  /// An operator's wish; the worker is not told. Null: there is no such worker (broker_core_drain.cc).
  const Worker* SetDrain(const SessionId& worker, OperatorDrain drain, TimePoint now);
  /// For operators: pages of what there is. Valid until the next event.
  BrokerReport Report() const { return {*this, workers_, ledger_, quarantine_}; }

  std::vector<Send> TakeSends() { return outbox_.Take(); }

  const BrokerCounters& counters() const { return counters_; }
  BrokerGauges gauges() const;
  std::uint64_t queued() const { return ledger_.queue().size(); }
  std::uint64_t queued_bytes() const { return ledger_.queue().bytes(); }
  std::uint64_t running() const { return workers_.leases(); }
  /// Finals, events and host calls kept for clients, in bytes.
  std::uint64_t held_bytes() const { return ledger_.kept().bytes(); }
  std::size_t workers() const { return workers_.size(); }
  std::size_t sessions() const { return sessions_.size(); }

 private:
  bool IsAnothers(const Peer& link, const SessionId& session);
  /// What a HELLO leaves to its key; false: what it says of itself is not what its key says, and it was told.
  bool TakeProof(const Peer& from, wire::Hello& hello);
  static SessionId ScopedTo(const Peer& from, const SessionId& session);
  void OnHello(const Peer& from, wire::Hello hello, TimePoint now);
  void WelcomeClient(const Peer& from, const wire::Hello& hello, wire::Welcome welcome, TimePoint now);
  void WelcomeWorker(const Peer& from, const wire::Hello& hello, wire::Welcome welcome, TimePoint now);
  void FromClient(Session& session, wire::Header& header, std::vector<Payload>& payloads, TimePoint now);
  void FromWorker(Worker& worker, wire::Header& header, std::vector<Payload>& payloads, TimePoint now);
  /// These two: what is wrong with it, if anything.
  std::optional<std::string> TakeStats(Worker& worker, const wire::Stats& stats);
  void Refuse(const Peer& peer, PeerRefusal why, const std::string& reason);
  void PutAway(Session& session, SessionEvent why, TimePoint now);
  /// How long the session outlives its link.
  Millis RetentionOf(const TenantId& tenant) const;
  /// Refused, and its session for a while; its jobs run elsewhere or are LOST. `worker` is dead after this.
  void CutOff(Worker& worker, const std::string& lie, TimePoint now);
  void EndWorker(Worker& worker, WorkerEvent event, const std::string& why, TimePoint now);
  /// Whether the worker has said more than it can have reason to since the last heartbeat.
  bool Floods(Worker& worker);
  std::optional<std::string> OnCredit(Worker& worker, const wire::Credit& credit, TimePoint now);
  void DropSilentPeers(TimePoint now);
  void PingAll();

  const BrokerConfig config_;
  Outbox outbox_;
  BrokerCounters counters_;
  SessionRegistry sessions_;
  WorkerRegistry workers_;
  JobLedger ledger_;
  Quarantine quarantine_;
  std::uint64_t next_epoch_;
  TimePoint next_beat_;
};

}  // namespace skerry::broker
