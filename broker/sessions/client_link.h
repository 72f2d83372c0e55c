// What goes to a client: through its session's bounded pipe while it is linked, kept there while it is away.
//
// Threads: the core's. Ownership: borrows the outbox and the books, which outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "broker/config.h"
#include "broker/outbox.h"
#include "broker/sessions/flow_control.h"
#include "broker/sessions/session_registry.h"

namespace skerry::broker {

enum class Delivery : bool { kDropped, kTaken };

class ClientLink {
 public:
  ClientLink(const BrokerConfig& config, Outbox& outbox, FlowControl& flow)
      : config_(config), outbox_(outbox), flow_(flow), mark_seed_(config.first_lease) {}

  /// ACCEPTED: for information; not sent to a client that is away or far behind.
  void Inform(Session& session, const wire::Accepted& accepted);
  /// EVENT, CALL. Dropped when too much is kept for this client already, or the session is closed.
  Delivery Send(Session& session, wire::Header header, std::vector<Payload> payloads);
  /// A FINAL that the ledger keeps: sent now, or with Resend when the client is back. Once, however often it
  /// is asked for before it is sent; after that again, since a client that was started anew may have been
  /// sent it before it submitted its job.
  void SendFinal(Session& session, const Job& job);
  /// A FINAL that nobody keeps: of a SUBMIT that was refused. Dropped: the client must be put away, so that
  /// it submits again.
  Delivery SendRefusal(Session& session, wire::Final final, Payload payload);

  /// On a new link: what it has not seen, in order; the finals are the caller's to send.
  void Relink(Session& session, std::uint64_t seen);
  /// On the same link: what has waited meanwhile, as far as the window allows.
  void Resume(Session& session);
  /// A PONG: what it has read makes room for more.
  void OnPong(Session& session, std::uint64_t mark);
  /// A PING, marking what is on its way.
  void Ping(Session& session);
  void Forget(Session& session);

 private:
  void Pump(Session& session);

  const BrokerConfig& config_;
  Outbox& outbox_;
  FlowControl& flow_;
  std::uint64_t mark_seed_;
};

}  // namespace skerry::broker
