// The client without sockets: submissions, messages and time in; sends, events and host calls out.
//
//   connecting ──WELCOME──> linked ──silence, BYE──> connecting ... ──too long, REFUSE──> failed
//
// After every WELCOME all unfinished jobs are submitted again: ids make that harmless, the broker knows those
// it has. So are answers to host calls that no PONG has confirmed, and the broker sends again what a broken
// link may have lost: what comes twice is dropped by its number.
//
// Threads: one at a time (Client holds its lock around it). Ownership: owns code and input of unfinished
// jobs. Errors: a failed link is a LinkFailed event; a job's failure is its final.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "clients/cpp/client_types.h"
#include "common/wire/messages.h"

namespace skerry::client {

enum class LinkState : std::uint8_t { kConnecting, kLinked, kFailed };

struct Outgoing {
  wire::Header header;
  std::vector<std::shared_ptr<const std::string>> payloads;
};

/// A host call that waits for its reply.
struct HostCall {
  JobId job;
  std::uint32_t attempt = 1;
  std::uint32_t call = 0;
  std::string method;
  std::string params;
};

class ClientCore {
 public:
  ClientCore(const ClientOptions& options, SessionId session, TimePoint now);

  /// Takes `request` when there is room, else leaves it as it is. An id that is unfinished here is an Error.
  Result<SubmitResult> Submit(JobRequest& request, TimePoint now);
  void Cancel(const JobId& id);
  void OnMessage(wire::Header header, std::vector<std::string> payloads, TimePoint now);
  void Reply(const HostCall& call, HostReply reply, TimePoint now);
  void OnTick(TimePoint now);
  TimePoint NextWake() const;
  /// Nothing could be heard because nobody listened: the broker is not to blame.
  void NotListening(TimePoint now) { last_heard_ = now; }

  /// What to send, in order. Whatever a lost link did not take must be thrown away (see generation).
  std::deque<Outgoing> TakeSends();
  std::vector<ClientEvent> TakeEvents() { return std::exchange(events_, {}); }
  std::vector<HostCall> TakeCalls() { return std::exchange(calls_, {}); }

  LinkState link() const { return link_; }
  const Error& failure() const { return failure_; }
  /// Counts lost links: sends taken under another generation are stale.
  std::uint64_t generation() const { return generation_; }
  std::uint64_t unfinished() const { return jobs_.size(); }

 private:
  enum class JobStage : std::uint8_t { kUnsent, kSent, kWaiting };
  struct Job {
    std::uint64_t number = 0;  // order of submission
    JobSpec spec;
    std::shared_ptr<const std::string> code;
    std::shared_ptr<const std::string> input;
    JobStage stage = JobStage::kUnsent;
    std::uint32_t attempt = 1;
    bool noticed = false;  // has sent events in this attempt
    bool cancelled = false;
    TimePoint submitted_at;
    std::uint64_t deadline_ms = 0;  // as asked; spec's shrinks while OVERLOADED is waited out
    std::uint64_t bytes() const { return code->size() + input->size(); }
  };
  struct KeptAnswer {
    std::uint64_t ping = 0;  // the PING whose PONG confirms it
    wire::Answer answer;
    std::shared_ptr<const std::string> text;
  };
  struct DelayedReply {
    HostCall call;
    HostReply reply;
  };

  /// Whether a message was here before. Unnumbered ones never were.
  bool SeenBefore(const wire::Header& header);
  void OnPong(const wire::Pong& pong);
  void ResendAnswers();
  void Put(wire::Header header, std::vector<std::shared_ptr<const std::string>> payloads = {});
  void SendJob(Job& job);
  void SendReply(const HostCall& call, HostReply reply);
  void OnWelcome(const wire::Welcome& welcome, TimePoint now);
  void OnEvent(wire::Event& event, std::vector<std::string>& payloads);
  void OnCall(const wire::Call& call, std::vector<std::string>& payloads);
  void OnFinal(const wire::Final& final, std::vector<std::string>& payloads, TimePoint now);
  void WaitOutOverload(Job& job, std::uint32_t retry_after_ms, TimePoint now);
  void Finish(Job& job, Outcome outcome);
  void NoteAttempt(Job& job, std::uint32_t attempt);
  void LoseLink(TimePoint now);
  void FailLink(Error error);
  Job* Find(const JobId& id);

  const ClientOptions options_;
  const SessionId session_;
  LinkState link_ = LinkState::kConnecting;
  Error failure_;
  bool ever_linked_ = false;
  std::uint64_t generation_ = 0;
  std::uint64_t credit_ = 0;
  Millis heartbeat_{1'000};
  TimePoint last_heard_;
  TimePoint connecting_since_;
  TimePoint next_hello_;
  TimePoint next_ping_;
  std::unordered_map<JobId, Job> jobs_;
  std::uint64_t bytes_in_flight_ = 0;
  std::uint64_t next_number_ = 1;
  std::multimap<TimePoint, JobId> retries_;
  std::multimap<TimePoint, DelayedReply> delayed_;
  std::deque<KeptAnswer> answers_;
  std::uint64_t pings_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t seen_ = 0;
  std::vector<std::string> acks_;
  std::deque<Outgoing> sends_;
  std::vector<ClientEvent> events_;
  std::vector<HostCall> calls_;
};

}  // namespace skerry::client
