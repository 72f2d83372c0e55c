// The client without sockets: submissions, messages and time in; sends, events and host calls out.
//
//   connecting ──WELCOME──> linked ──silence, BYE──> connecting ... ──too long, REFUSE──> failed
//
// After every WELCOME all unfinished jobs are submitted again: ids make that harmless, the broker knows those
// it has. One that has forgotten the session (it was restarted, or we were away too long) may have run them:
// then a job is submitted again only where its `retry` allows a second run, else it ends as LOST.
//
// A final is acknowledged when the caller has dealt with it, not when it arrives: a caller that is killed in
// between finds it again. The same holds for host calls: the broker tells an unanswered one again after a
// reconnect, and one that was answered gets the same answer again without the handler. What else comes twice
// is dropped by its number.
//
// Code that jobs share (Program, or `program` in their specs) is kept once. Towards a broker that keeps
// programs it is left out of SUBMITs once the link has carried it; NEED asks for it.
//
// Threads: one at a time (Client holds its lock around it). Ownership: owns code and input of unfinished
// jobs. Errors: a failed link is a LinkFailed event; a job's failure is its final.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "clients/cpp/carried_code.h"
#include "clients/cpp/client_types.h"
#include "clients/cpp/host_call.h"
#include "clients/cpp/job_port.h"
#include "clients/cpp/rate_pace.h"
#include "common/wire/messages.h"

namespace skerry::client {

struct Outgoing {
  wire::Header header;
  std::vector<std::shared_ptr<const std::string>> payloads;
};

class ClientCore final : public JobPort {
 public:
  enum class JobStage : std::uint8_t { kUnsent, kSent, kWaiting };
  /// A host call as the client knows it: no reply yet, a reply, or one whose text had to be forgotten (null).
  struct GivenReply {
    wire::AnswerKind kind = wire::AnswerKind::kError;
    std::shared_ptr<const std::string> text;
  };
  using KnownCalls = std::map<std::uint32_t, std::optional<GivenReply>>;
  /// An unfinished job; one that is withdrawn is whole, and another core can go on with it.
  struct Job {
    std::uint64_t number = 0;  // order of submission
    JobSpec spec;
    std::shared_ptr<const std::string> code;
    std::shared_ptr<const std::string> input;
    JobStage stage = JobStage::kUnsent;
    std::uint32_t attempt = 1;
    bool noticed = false;  // has sent events in this attempt
    bool cancelled = false;
    KnownCalls calls;  // of this attempt
    TimePoint submitted_at;
    std::uint64_t deadline_ms = 0;  // as asked; spec's shrinks while a refusal is waited out
    bool shares_code = false;       // `code` is one of shared_
    std::uint64_t submit = 0;       // number of its last SUBMIT
    bool carried = false;           // that brought its code
    bool needed = false;            // NEED has come for it
    bool must_carry = false;
    bool resent = false;  // more than one SUBMIT may be there: a refusal need not be the last one's
    /// Brokers that were lost, or have forgotten it, after it was sent to them: it may have run there...
    std::uint32_t sent_before = 0;
    bool begun_before = false;  // ...and at one of them it has begun, which is what its deadline asked for
    /// Whether its broker may have it, as far as the client knows.
    bool may_be_there() const { return stage == JobStage::kSent || resent; }
    std::uint64_t own_bytes() const { return (shares_code ? 0 : code->size()) + input->size(); }
  };

  /// One of several brokers is told that what it cannot run for want of workers can go elsewhere.
  enum class Standing : std::uint8_t { kOnly, kOneOfSeveral };

  ClientCore(const ClientOptions& options, SessionId session, TimePoint now,
             Standing standing = Standing::kOnly);

  Result<SubmitResult> Submit(JobRequest& request, TimePoint now) override;
  void Cancel(const JobId& id) override;
  void OnMessage(wire::Header header, std::vector<std::string> payloads, TimePoint now);
  void Reply(const HostCall& call, HostReply reply, TimePoint now);
  /// Whether anybody still waits for the reply.
  bool Awaits(const HostCall& call) const;
  /// The caller needs this job's final no more: it has dealt with it, or has it from an earlier life.
  void Acknowledge(const JobId& id);
  void OnTick(TimePoint now);
  TimePoint NextWake() const;
  /// Nothing could be heard because nobody listened: the broker is not to blame.
  void NotListening(TimePoint now) { last_heard_ = now; }

  /// What to send, in order. Whatever a lost link did not take must be thrown away (see generation).
  std::deque<Outgoing> TakeSends();
  std::vector<ClientEvent> TakeEvents() override { return std::exchange(events_, {}); }
  std::vector<HostCall> TakeCalls() { return std::exchange(calls_, {}); }

  LinkState link() const override { return link_; }
  LinkHealth Health(TimePoint now) const;
  const Error& failure() const { return failure_; }
  /// Counts lost links: sends taken under another generation are stale.
  std::uint64_t generation() const { return generation_; }
  std::uint64_t unfinished() const { return jobs_.size(); }
  std::uint64_t places() const override {
    return ever_linked_ ? std::min(credit_, options_.max_in_flight) : options_.max_in_flight;
  }
  std::size_t acks_waiting() const { return acks_.size(); }

  // For clients of several brokers (client_core_moves.cc).
  /// Takes out what may go on elsewhere, which nothing does that is cancelled: while its broker is not heard,
  /// nobody else can say that it runs no more. Of what this broker may have run it is remembered that it is
  /// not this client's any more: when the broker is heard of again it is cancelled there, and its final
  /// dropped.
  enum class Scope : std::uint8_t { kNotSent, kMayRunAgain };
  std::vector<Job> Withdraw(Scope scope);
  /// Goes on with a job that another core had; its deadline has less time left.
  void Adopt(Job job, TimePoint now);
  /// What this broker had no room for and may go elsewhere, in the order of submission; it waits to be
  /// submitted here again.
  std::vector<JobId> Refused() const;
  const Job& JobOf(const JobId& id) const { return jobs_.at(id); }
  /// One of these. It has not run here; where that is not certain it may run again, and is cancelled here.
  Job TakeRefused(const JobId& id, TimePoint now);
  /// The broker has said that it has no room, and when to ask again.
  bool Refuses(TimePoint now) const { return now < refuses_until_; }
  /// For so long already, in which it has told of no job that runs or has run.
  bool RefusesFor(Millis time, TimePoint now) const {
    return Refuses(now) && refuses_since_ && now - *refuses_since_ >= time;
  }
  /// A job that was withdrawn from here (Remembers), and is cancelled: this broker's word ends it.
  void TakeBackCancelled(Job job);
  /// The rest ends: nobody can say any more what became of it.
  void LoseJobs(const std::string& why);
  /// Whether an earlier life of the id may still be known to this broker: it cannot be given it anew yet.
  bool Remembers(const JobId& id, TimePoint now) const;
  /// Whether the broker holds the final of this job for us, from an earlier life of the client.
  bool HasFinalOf(const JobId& id) const { return unclaimed_.contains(id); }
  /// Silence is enough for others to be asked; the link is looked for again.
  void GiveLinkUp(TimePoint now) {
    if (link_ == LinkState::kLinked) LoseLink(now);
  }
  /// Nothing is left to do for this session.
  bool Idle() const { return jobs_.empty() && undealt_.empty() && acks_.empty(); }
  TimePoint last_heard() const { return last_heard_; }
  std::uint64_t bytes_in_flight() const { return bytes_in_flight_; }
  /// Finals of jobs that went on elsewhere, which came all the same.
  std::uint64_t late_finals() const { return late_finals_; }

 private:
  struct SharedCode {
    std::shared_ptr<const std::string> text;
    std::uint64_t jobs = 0;
  };
  /// As this broker has it.
  struct Withdrawn {
    TimePoint told;  // that it is wanted no more; max(): not yet
    std::uint64_t deadline_ms = 0;
  };
  struct DelayedReply {
    HostCall call;
    HostReply reply;
  };
  /// Where a reply's text is, or was until its job ended; in the order in which they were given.
  struct KeptReply {
    JobId job;
    std::uint32_t call = 0;
    std::uint64_t bytes = 0;
  };

  /// Whether a message was here before. Unnumbered ones never were.
  bool SeenBefore(const wire::Header& header);
  void OnSeenFinal(const wire::Final& final, TimePoint now);
  Job& TakeIn(Job job);
  Job TakeOut(std::unordered_map<JobId, Job>::iterator at);
  void NoteLost(Job& job);
  void Put(wire::Header header, std::vector<std::shared_ptr<const std::string>> payloads = {});
  std::uint64_t BytesOf(const JobRequest& request) const;
  void TakeCode(Job& job, JobRequest& request);
  void ReleaseCode(const Job& job);
  void SendJob(Job& job);
  void PutSubmit(Job& job);
  void OnNeed(const JobId& id);
  void SendReply(const HostCall& call, HostReply reply);
  void SendAnswer(const Job& job, std::uint32_t call, const GivenReply& reply);
  void KeepReply(const Job& job, std::uint32_t call, std::uint64_t bytes);
  void NoteAcknowledged(const JobId& id);
  void OnWelcome(const wire::Welcome& welcome, TimePoint now);
  void OnEvent(wire::Event& event, std::vector<std::string>& payloads);
  void OnCall(const wire::Call& call, std::vector<std::string>& payloads);
  void OnFinal(const wire::Final& final, std::vector<std::string>& payloads, TimePoint now);
  void OnStrayFinal(const JobId& id);
  void StartOver(Job& job);
  void FinishAsLost(Job& job);
  bool WaitsOut(Job& job, const wire::Final& final, TimePoint now);
  void NoteRefusal(TimePoint until, TimePoint now);
  void WaitUntil(Job& job, TimePoint due, const char* why);
  bool HasTimeLeft(Job& job, TimePoint at, const std::string& why);
  void WaitForRoom(Job& job, TimePoint due, TimePoint now);
  void LookAgain(const Job& job, TimePoint due, TimePoint now);
  void SubmitDueAgain(TimePoint now);
  void Finish(Job& job, Outcome outcome);
  void NoteAttempt(Job& job, std::uint32_t attempt);
  void CancelWithdrawn(const wire::Welcome& welcome, TimePoint now);
  bool DropLate(const JobId& id);
  void LoseLink(TimePoint now);
  void FailLink(Error error);
  Job* Find(const JobId& id);

  const ClientOptions options_;
  const SessionId session_;
  const Standing standing_;
  LinkState link_ = LinkState::kConnecting;
  Error failure_;
  bool ever_linked_ = false;
  bool said_bye_ = false;  // the broker, since it was linked last
  std::uint64_t generation_ = 0;
  std::uint64_t credit_ = 0;
  bool reproducible_ = false;  // the broker knows seed, clock and receipt
  bool programs_ = false;      // and libraries, program, encoding and NEED
  bool turns_ = false;         // the same of turn, turnExecutions and onDisconnect
  Millis heartbeat_{1'000};
  TimePoint last_heard_;
  TimePoint connecting_since_;
  TimePoint linked_since_;
  int brief_links_ = 0;  // in a row
  TimePoint next_hello_;
  TimePoint next_ping_;
  std::unordered_map<JobId, Job> jobs_;
  std::unordered_map<std::string, SharedCode> shared_;  // by hash
  CarriedCode carried_;                                 // by this link
  std::uint64_t submits_ = 0;
  std::uint64_t bytes_in_flight_ = 0;
  std::uint64_t next_number_ = 1;
  std::multimap<TimePoint, JobId> retries_;
  std::map<std::uint64_t, JobId> refused_;  // of those in retries_, for want of room; by number
  TimePoint refuses_until_;
  std::optional<TimePoint> refuses_since_;
  std::size_t burst_ = 0;  // of these, how many may come again at once
  RatePace pace_;
  std::multimap<TimePoint, DelayedReply> delayed_;
  std::uint64_t epoch_ = 0;
  std::uint64_t seen_ = 0;
  std::vector<std::string> acks_;
  std::unordered_set<JobId> undealt_;    // finals given out, not acknowledged yet
  std::unordered_set<JobId> unclaimed_;  // finals of an earlier life's jobs that nobody has asked for yet
  std::unordered_set<JobId> lost_;       // of those, what a broker has forgotten since: they have run
  bool adopts_ = false;                  // the first WELCOME knew this session
  std::deque<JobId> acked_;              // the last ones, for a broker that missed an ACK
  std::unordered_multiset<JobId> acked_ids_;
  std::unordered_map<JobId, Withdrawn> withdrawn_;  // after they were sent
  std::uint64_t late_finals_ = 0;
  std::deque<KeptReply> replies_;
  std::uint64_t reply_bytes_ = 0;
  std::deque<Outgoing> sends_;
  std::vector<ClientEvent> events_;
  std::vector<HostCall> calls_;
};

}  // namespace skerry::client
