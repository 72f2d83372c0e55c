#include "broker/client_link.h"

#include <utility>

namespace skerry::broker {
namespace {

std::uint64_t BytesOf(const Send& send) {
  std::uint64_t bytes = sizeof(Send) + 256;  // the header's strings
  for (const Payload& payload : send.payloads) bytes += payload.size();
  return bytes;
}

}  // namespace

void ClientLink::SendIfLinked(Session& session, wire::Header header, std::vector<Payload> payloads) {
  if (session.state == SessionState::kLinked)
    outbox_.Put(session.link, std::move(header), std::move(payloads));
}

Delivery ClientLink::SendOrKeep(Session& session, wire::Header header, std::vector<Payload> payloads) {
  if (session.state == SessionState::kClosed) return Delivery::kDropped;
  if (session.state == SessionState::kLinked) {
    outbox_.Put(session.link, std::move(header), std::move(payloads));
    return Delivery::kTaken;
  }
  Send send{session.link, std::move(header), std::move(payloads)};
  const std::uint64_t bytes = BytesOf(send);
  if (session.backlog_bytes + bytes > max_backlog_.count()) return Delivery::kDropped;
  session.backlog_bytes += bytes;
  session.backlog.push_back(std::move(send));
  return Delivery::kTaken;
}

void ClientLink::Flush(Session& session) {
  for (Send& send : session.backlog)
    outbox_.Put(session.link, std::move(send.header), std::move(send.payloads));
  Forget(session);
}

void ClientLink::Forget(Session& session) {
  session.backlog.clear();
  session.backlog_bytes = 0;
}

}  // namespace skerry::broker
