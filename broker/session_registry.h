// The clients' sessions: each outlives its connection for a while, with its jobs, its unacknowledged finals
// and what could not be delivered meanwhile.
//
//   linked ──unreachable, silent──> away ──HELLO──> linked
//     │                               │ ttl
//     └──────────── bye ──────────────┴──────> closed (until its running jobs have ended) ──> gone
//
// Ownership: owns Session records, which own their jobs. Threads: the core's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "broker/job.h"
#include "broker/outbox.h"
#include "common/ids.h"
#include "common/units.h"

namespace skerry::broker {

enum class SessionState : std::uint8_t { kLinked, kAway, kClosed };

struct Session {
  SessionId id;
  TenantId tenant;
  Peer link;  ///< the last one, also while away
  SessionState state = SessionState::kLinked;
  TimePoint last_heard;
  TimePoint expires;  ///< while away
  std::unordered_map<JobId, std::unique_ptr<Job>> jobs;
  std::uint64_t unfinished = 0;
  std::map<std::uint64_t, Job*> finals;  ///< ended and not acknowledged, oldest first
  std::uint64_t final_bytes = 0;
  std::deque<Send> backlog;  ///< events and host calls, while away
  std::uint64_t backlog_bytes = 0;
  std::uint64_t open_call_bytes = 0;  ///< of its jobs' open calls

  Job* Find(const JobId& job_id) {
    const auto found = jobs.find(job_id);
    return found == jobs.end() ? nullptr : found->second.get();
  }
};

class SessionRegistry {
 public:
  /// The session of that id bound to a new link, or a new one.
  Session& Connect(const SessionId& id, const Peer& link, TimePoint now);
  bool Knows(const SessionId& id) const { return sessions_.contains(id); }
  Session* Find(const Peer& link);
  void GoAway(Session& session, TimePoint expires);
  /// No HELLO finds it any more; it lives until EraseIfDone.
  void Close(Session& session);
  /// Frees a closed session that has no job left. `session` is dead when this returns true, and may be
  /// before.
  bool EraseIfDone(Session& session);

  /// Open ones; pointers stay valid until the session is closed and erased.
  std::vector<Session*> All();
  std::size_t size() const { return sessions_.size(); }
  std::size_t closing() const { return closed_.size(); }

 private:
  std::unordered_map<SessionId, std::unique_ptr<Session>> sessions_;
  std::unordered_map<Peer, Session*> links_;
  std::unordered_map<Session*, std::unique_ptr<Session>> closed_;
};

}  // namespace skerry::broker
