// What keys mean to the broker's core: whose a session is, and what becomes of it when its key is revoked.
#include "broker/broker_core.h"
#include "common/logging.h"

namespace skerry::broker {

void BrokerCore::OnHandshakeRefused(HandshakeRefusal why) {
  counters_.Count(why);
}

void BrokerCore::OnUnheard() {
  ++counters_.unheard_messages;
}

bool BrokerCore::TakeProof(const Peer& from, wire::Hello& hello) {
  const std::string& owner = from.proof->name;
  if (from.side == Side::kClient && !hello.tenant.empty() && hello.tenant.str() != owner) {
    Refuse(from, PeerRefusal::kTenant,
           "UNAUTHORIZED: this client's key is of tenant '" + owner + "', its HELLO of '" +
               hello.tenant.str() + "'");
    return false;
  }
  hello.tenant = TenantId(owner);
  return true;
}

/// Names of sessions are the peers' to choose: each key's owner has a name space of his own, so that nobody
/// finds, or keeps out, another's. A name without `/` is of a peer without a key; no owner's name has one.
SessionId BrokerCore::ScopedTo(const Peer& from, const SessionId& session) {
  const std::string& name = session.str();
  if (from.proof != nullptr) return SessionId(from.proof->name + "/" + name);
  return name.find('/') == std::string::npos ? session : SessionId("/" + name);
}

void BrokerCore::OnKeysChanged(const std::function<bool(const Identity&)>& allowed, TimePoint now) {
  const auto lost = [&](const Peer& link) { return link.proof != nullptr && !allowed(*link.proof); };
  constexpr const char* kWhy = "this key is not authorized any more";
  for (Session* session : sessions_.All()) {
    if (!lost(session->link)) continue;
    Refuse(session->link, PeerRefusal::kRevoked, kWhy);
    log::Warn(
        "client's key is gone, and its jobs with it",
        {{"client", session->id.str()}, {"key", session->link.proof->key}, {"jobs", session->unfinished}});
    ledger_.Abandon(*session, SessionEvent::kBye, now);
  }
  for (Worker* worker : workers_.All()) {
    if (!lost(worker->link)) continue;
    Refuse(worker->link, PeerRefusal::kRevoked, kWhy);
    log::Warn("worker's key is gone", {{"worker", worker->session.str()}, {"key", worker->link.proof->key}});
    EndWorker(*worker, WorkerEvent::kBye, "its worker's key was revoked", now);
  }
}

}  // namespace skerry::broker
