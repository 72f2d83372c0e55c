// Workers that lied, refused for a while: by session id when they say HELLO, and by link, where whatever else
// they go on sending is dropped unanswered.
//
// Threads: the core's. Memory: at most kMaxEntries of each; past it the oldest is forgotten, so that a crowd
// of liars costs no more than that.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "broker/outbox.h"
#include "common/ids.h"
#include "common/units.h"

namespace skerry::broker {

class Quarantine {
 public:
  static constexpr std::size_t kMaxEntries = 1024;

  explicit Quarantine(Millis time) : time_(time) {}

  void Add(const SessionId& session, const Peer& link, std::string why, TimePoint now);
  /// What to tell a HELLO of that session, or nothing when it may come in.
  std::optional<std::string> ReasonFor(const SessionId& session, TimePoint now) const;
  /// Those behind `after` that are refused still, in the order of their ids, and the lie of each.
  std::vector<std::pair<SessionId, std::string>> After(const SessionId& after, std::size_t most,
                                                       TimePoint now) const;
  bool Ignores(const Peer& link, TimePoint now) const;
  /// A HELLO on that link was taken: it is somebody else by now.
  void Pardon(const Peer& link) { links_.erase(link); }
  std::size_t size() const { return sessions_.size(); }

 private:
  struct Entry {
    std::string why;
    TimePoint until;
  };

  const Millis time_;
  std::map<SessionId, Entry> sessions_;
  std::unordered_map<Peer, TimePoint> links_;
  std::deque<std::pair<SessionId, Peer>> order_;
};

}  // namespace skerry::broker
