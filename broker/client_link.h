// What goes to a client: at once while it is linked, into its session's bounded backlog while it is away.
//
// Threads: the core's.
#pragma once

#include <vector>

#include "broker/outbox.h"
#include "broker/session_registry.h"
#include "common/units.h"

namespace skerry::broker {

enum class Delivery : bool { kDropped, kTaken };

class ClientLink {
 public:
  ClientLink(Outbox& outbox, Bytes max_backlog) : outbox_(outbox), max_backlog_(max_backlog) {}

  /// For what need not wait for an absent client (ACCEPTED, FINAL: it gets those again on HELLO).
  void SendIfLinked(Session& session, wire::Header header, std::vector<Payload> payloads = {});
  /// For what exists once (EVENT, CALL). Dropped when the backlog is full or the session closed.
  Delivery SendOrKeep(Session& session, wire::Header header, std::vector<Payload> payloads);
  /// Everything kept, in order, to the session's new link.
  void Flush(Session& session);
  void Forget(Session& session);

 private:
  Outbox& outbox_;
  Bytes max_backlog_;
};

}  // namespace skerry::broker
