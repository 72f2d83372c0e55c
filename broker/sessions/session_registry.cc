#include "broker/sessions/session_registry.h"

#include <utility>

namespace skerry::broker {

Session& SessionRegistry::Connect(const SessionId& id, const Peer& link, TimePoint now) {
  std::unique_ptr<Session>& session = sessions_[id];
  if (session == nullptr) {
    session = std::make_unique<Session>();
    session->id = id;
  } else {
    links_.erase(session->link);
  }
  if (session->state == SessionState::kAway) --away_;
  session->link = link;
  session->state = Next(session->state, SessionEvent::kHello).value_or(SessionState::kLinked);
  session->last_heard = now;
  links_[link] = session.get();
  return *session;
}

Session* SessionRegistry::Find(const Peer& link) {
  const auto found = links_.find(link);
  return found == links_.end() ? nullptr : found->second;
}

bool SessionRegistry::GoAway(Session& session, SessionEvent why, TimePoint expires) {
  const auto next = Next(session.state, why);
  if (next != SessionState::kAway) return false;
  session.state = *next;
  ++away_;
  session.expires = expires;
  return true;
}

void SessionRegistry::Close(Session& session, SessionEvent why) {
  const auto next = Next(session.state, why);
  if (next != SessionState::kClosed) return;
  if (session.state == SessionState::kAway) --away_;
  session.state = *next;
  links_.erase(session.link);
  const auto found = sessions_.find(session.id);
  if (found == sessions_.end() || found->second.get() != &session) return;
  closed_[&session] = std::move(found->second);
  sessions_.erase(found);
}

bool SessionRegistry::EraseIfDone(Session& session) {
  // By address alone: the caller's reference may be to a session that the end of its last job has freed
  // already.
  const auto found = closed_.find(&session);
  if (found == closed_.end() || !found->second->jobs.empty()) return false;
  closed_.erase(found);
  return true;
}

std::vector<Session*> SessionRegistry::All() {
  std::vector<Session*> all;
  all.reserve(sessions_.size());
  for (auto& [id, session] : sessions_) all.push_back(session.get());
  return all;
}

}  // namespace skerry::broker
