#include "broker/workers/quarantine.h"

#include <chrono>

namespace skerry::broker {

void Quarantine::Add(const SessionId& session, const Peer& link, std::string why, TimePoint now) {
  if (order_.size() >= kMaxEntries) {
    sessions_.erase(order_.front().first);
    links_.erase(order_.front().second);
    order_.pop_front();
  }
  sessions_[session] = {std::move(why), now + time_};
  links_[link] = now + time_;
  order_.emplace_back(session, link);
}

std::optional<std::string> Quarantine::ReasonFor(const SessionId& session, TimePoint now) const {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.until <= now) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::seconds>(found->second.until - now).count();
  return "this session was cut off (" + found->second.why + "); start the worker anew, or wait " +
         std::to_string(left) + " s";
}

std::vector<std::pair<SessionId, std::string>> Quarantine::After(const SessionId& after, std::size_t most,
                                                                 TimePoint now) const {
  std::vector<std::pair<SessionId, std::string>> found;
  for (auto at = sessions_.upper_bound(after); at != sessions_.end() && found.size() < most; ++at) {
    if (at->second.until > now) found.emplace_back(at->first, at->second.why);
  }
  return found;
}

bool Quarantine::Ignores(const Peer& link, TimePoint now) const {
  const auto found = links_.find(link);
  return found != links_.end() && found->second > now;
}

}  // namespace skerry::broker
