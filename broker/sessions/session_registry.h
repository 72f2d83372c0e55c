// The clients' sessions: each outlives its connection for a while, with its jobs, its unacknowledged finals
// and what could not be delivered meanwhile; session_state.h has the drawing.
//
// Ownership: owns Session records, which own their jobs. Threads: the core's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "broker/jobs/job.h"
#include "broker/metrics/gauges.h"
#include "broker/outbox.h"
#include "broker/sessions/client_pipe.h"
#include "broker/sessions/session_state.h"
#include "common/ids.h"
#include "common/units.h"

namespace skerry::broker {

/// What is kept for a client until it has read or acknowledged it.
struct KeptForClient {
  std::uint64_t finals = 0;
  std::uint64_t final_bytes = 0;
  std::uint64_t own_bytes = 0;  ///< of its pipe: events, calls, refusals
  std::uint64_t bytes() const { return final_bytes + own_bytes; }
};

/// Finds a job by its id, which is kept in it alone. Not noexcept, or the table would not keep hashes, and
/// would read every job of a bucket for its own.
struct ById {
  using is_transparent = void;
  static const JobId& IdOf(const JobId& id) { return id; }
  static const JobId& IdOf(const std::unique_ptr<Job>& job) { return job->id; }
  template <class T>
  std::size_t operator()(const T& job) const {
    return std::hash<JobId>()(IdOf(job));
  }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return IdOf(a) == IdOf(b);
  }
};

struct Session {
  SessionId id;
  TenantId tenant;
  Peer link;  ///< the last one, also while away
  SessionState state = SessionState::kLinked;
  TimePoint last_heard;
  TimePoint expires;  ///< while away
  std::unordered_set<std::unique_ptr<Job>, ById, ById> jobs;
  std::uint64_t unfinished = 0;
  std::uint64_t running = 0;             ///< of the unfinished, those that a worker holds
  std::map<std::uint64_t, Job*> finals;  ///< ended and not acknowledged, oldest first
  std::uint64_t final_bytes = 0;
  std::uint64_t epoch = 0;  ///< of this life: a client that missed the end of an earlier one must hear of it
  ClientPipe pipe;
  bool lost_messages = false;  ///< its present link did not take one: what is in flight must be sent anew
  bool knows_need = false;     ///< the code of its programs may be asked for
  bool quiet = false;          ///< it wants no ACCEPTED
  bool spreads = false;        ///< what cannot run here it takes elsewhere
  KeptForClient kept;          ///< FlowControl's figures
  std::uint64_t open_call_bytes = 0;  ///< of its jobs' open calls

  Job* Find(const JobId& job_id) {
    const auto found = jobs.find(job_id);
    return found == jobs.end() ? nullptr : found->get();
  }
  /// `job` is freed.
  void Drop(Job& job) { jobs.erase(jobs.find(job.id)); }
};

class SessionRegistry {
 public:
  /// The session of that id bound to a new link, or a new one.
  Session& Connect(const SessionId& id, const Peer& link, TimePoint now);
  bool Knows(const SessionId& id) const { return sessions_.contains(id); }
  Session* Find(const Peer& link);
  /// False, and nothing done, where the session is not linked.
  bool GoAway(Session& session, SessionEvent why, TimePoint expires);
  /// No HELLO finds it any more; it lives until EraseIfDone.
  void Close(Session& session, SessionEvent why);
  /// Frees a closed session that has no job left. `session` is dead when this returns true, and may be
  /// before.
  bool EraseIfDone(Session& session);

  /// What the jobs have in common.
  SharedParts& shared() { return shared_; }
  /// Open ones; pointers stay valid until the session is closed and erased.
  std::vector<Session*> All();
  std::size_t size() const { return sessions_.size(); }
  std::size_t closing() const { return closed_.size(); }
  std::size_t away() const { return away_; }

 private:
  SharedParts shared_;  // before the jobs, which hold parts of it
  std::unordered_map<SessionId, std::unique_ptr<Session>> sessions_;
  std::unordered_map<Peer, Session*> links_;
  std::unordered_map<Session*, std::unique_ptr<Session>> closed_;
  std::size_t away_ = 0;
};

}  // namespace skerry::broker
