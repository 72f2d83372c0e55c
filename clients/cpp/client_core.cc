#include "clients/cpp/client_core.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "clients/cpp/ended.h"
#include "common/printable.h"
#include "common/wire/negotiate.h"

namespace skerry::client {
namespace {

// HELLO is said again this often until a WELCOME comes: the first may have gone to a broker that was just
// dying.
constexpr Millis kHelloInterval{500};
// Ids in one ACK: 128 of the longest ids stay far below kMaxHeaderBytes.
constexpr std::size_t kAcksPerMessage = 128;
// ACKs that may have been lost with a link: as many as a broker keeps finals for one session.
constexpr std::size_t kRememberedAcks = 4096;
// Finals of an earlier life; a broker keeps fewer.
constexpr std::size_t kMostUnclaimed = 65'536;

}  // namespace

ClientCore::ClientCore(const ClientOptions& options, SessionId session, TimePoint now, Standing standing)
    : options_(options),
      session_(std::move(session)),
      standing_(standing),
      last_heard_(now),
      connecting_since_(now),
      next_hello_(now),
      next_ping_(now) {}

ClientCore::Job* ClientCore::Find(const JobId& id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

void ClientCore::Put(wire::Header header, std::vector<std::shared_ptr<const std::string>> payloads) {
  sends_.push_back({std::move(header), std::move(payloads)});
}

std::deque<Outgoing> ClientCore::TakeSends() {
  if (link_ != LinkState::kLinked) return std::exchange(sends_, {});
  std::deque<Outgoing> sends;
  for (std::size_t at = 0; at < acks_.size(); at += kAcksPerMessage) {
    const std::size_t end = std::min(at + kAcksPerMessage, acks_.size());
    wire::Ack ack{
        {acks_.begin() + static_cast<std::ptrdiff_t>(at), acks_.begin() + static_cast<std::ptrdiff_t>(end)}};
    sends.push_back({std::move(ack), {}});
  }
  acks_.clear();
  // Behind the ACKs: an id may be used again once its final is dealt with.
  std::move(sends_.begin(), sends_.end(), std::back_inserter(sends));
  sends_.clear();
  return sends;
}

void ClientCore::OnMessage(wire::Header header, std::vector<std::string> payloads, TimePoint now) {
  if (link_ == LinkState::kFailed) return;
  last_heard_ = now;
  if (SeenBefore(header)) {
    if (const auto* final = std::get_if<wire::Final>(&header)) OnSeenFinal(*final, now);
    return;
  }
  std::visit(
      [&](auto& message) {
        using Message = std::remove_cvref_t<decltype(message)>;
        if constexpr (std::is_same_v<Message, wire::Welcome>) {
          if (link_ == LinkState::kConnecting) OnWelcome(message, now);
        } else if constexpr (std::is_same_v<Message, wire::Refuse>) {
          FailLink(
              {ErrorKind::kUnavailable, "the broker refused the link: " + WithoutControls(message.reason)});
        } else if constexpr (std::is_same_v<Message, wire::Bye>) {
          if (link_ == LinkState::kLinked) LoseLink(now);
          said_bye_ = true;
        } else if constexpr (std::is_same_v<Message, wire::Ping>) {
          if (link_ == LinkState::kLinked) Put(wire::Pong{message.number});
        } else if constexpr (std::is_same_v<Message, wire::Credit>) {
          credit_ = message.slots;
        } else if constexpr (std::is_same_v<Message, wire::Need>) {
          OnNeed(message.id);
        } else if constexpr (std::is_same_v<Message, wire::Event>) {
          OnEvent(message, payloads);
        } else if constexpr (std::is_same_v<Message, wire::Call>) {
          OnCall(message, payloads);
        } else if constexpr (std::is_same_v<Message, wire::Final>) {
          OnFinal(message, payloads, now);
        }
      },
      header);
}

bool ClientCore::SeenBefore(const wire::Header& header) {
  const std::uint64_t seq = wire::SeqOf(header);
  if (seq == 0) return false;
  if (seq <= seen_) return true;
  seen_ = seq;
  return false;
}

/// Told again after a broken link: perhaps its ACK was what was lost.
void ClientCore::OnSeenFinal(const wire::Final& final, TimePoint now) {
  const JobId& id = final.id;
  if (DropLate(id)) return;
  if (Job* job = Find(id)) {
    // Its job was submitted again behind the WELCOME, and was taken for the one that had been refused.
    if (job->stage == JobStage::kWaiting) {
      NoteAcknowledged(id);
    } else if (job->stage == JobStage::kSent && job->resent) {
      (void)WaitsOut(*job, final, now);
    }
  } else if (!undealt_.contains(id) && !unclaimed_.contains(id)) {
    NoteAcknowledged(id);
  }
}

void ClientCore::OnWelcome(const wire::Welcome& welcome, TimePoint now) {
  const auto agreed = wire::CheckAgreed({wire::kOldestVersion, wire::kVersion}, welcome.version, "client");
  if (!agreed) return FailLink(agreed.error());
  linked_since_ = now;
  const bool first = !ever_linked_;
  if (welcome.epoch != epoch_ || !welcome.resumed) seen_ = 0;
  epoch_ = welcome.epoch;
  if (first) adopts_ = welcome.resumed;
  link_ = LinkState::kLinked;
  ever_linked_ = true;
  said_bye_ = false;
  credit_ = std::max<std::uint64_t>(welcome.credit, 1);
  reproducible_ = wire::HasCapability(welcome.capabilities, wire::kReproducibleCapability);
  programs_ = wire::HasCapability(welcome.capabilities, wire::kProgramsCapability);
  turns_ = wire::HasCapability(welcome.capabilities, wire::kTurnsCapability);
  carried_.Clear();  // what the link before this one carried may have been lost with it
  if (welcome.heartbeat_ms > 0) heartbeat_ = Millis(std::min<std::uint64_t>(welcome.heartbeat_ms, 60'000));
  next_ping_ = now + heartbeat_;
  if (!first && !welcome.resumed) lost_.merge(unclaimed_);
  CancelWithdrawn(welcome, now);
  std::vector<Job*> jobs;
  for (auto& [id, job] : jobs_) {
    if (job.stage != JobStage::kWaiting) jobs.push_back(&job);
  }
  std::sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) { return a->number < b->number; });
  for (Job* job : jobs) {
    job->resent = welcome.resumed && job->may_be_there();
    if (first || welcome.resumed || job->stage == JobStage::kUnsent) {
      SendJob(*job);
    } else {
      StartOver(*job);
    }
  }
}

/// The broker has forgotten the session, and may have run this job before.
void ClientCore::StartOver(Job& job) {
  if (!AllowsAnotherRun(job.spec.retry, !job.calls.empty())) return FinishAsLost(job);
  NoteLost(job);
  if (job.begun_before) job.deadline_ms = job.spec.deadline_ms = 0;
  if (std::exchange(job.noticed, false)) events_.emplace_back(JobRestarted{job.spec.id});
  job.attempt = 1;
  job.calls.clear();
  SendJob(job);
}

void ClientCore::FinishAsLost(Job& job) {
  Outcome lost =
      Ended(Code::kLost, "the broker was restarted and has forgotten it; it may have run", job.attempt);
  lost.error->started = true;  // nobody may rely on that it did not
  Finish(job, std::move(lost));
}

void ClientCore::NoteAttempt(Job& job, std::uint32_t attempt) {
  if (attempt <= job.attempt) return;
  job.attempt = attempt;
  job.calls.clear();
  if (std::exchange(job.noticed, false)) events_.emplace_back(JobRestarted{job.spec.id});
}

void ClientCore::OnEvent(wire::Event& event, std::vector<std::string>& payloads) {
  Job* job = Find(event.id);
  if (job == nullptr || event.attempt < job->attempt) return;
  NoteAttempt(*job, event.attempt);
  job->noticed = true;
  refuses_since_.reset();
  std::string payload = payloads.empty() ? std::string() : std::move(payloads[0]);
  events_.emplace_back(
      JobNotice{event.id, event.attempt, event.type, event.level, event.truncated, std::move(payload)});
}

void ClientCore::OnFinal(const wire::Final& final, std::vector<std::string>& payloads, TimePoint now) {
  Job* job = Find(final.id);
  if (job == nullptr && DropLate(final.id)) return;
  if (job == nullptr) return OnStrayFinal(final.id);
  if (!job->may_be_there()) return NoteAcknowledged(final.id);
  if (WaitsOut(*job, final, now)) return;
  if (final.ok || final.code != Code::kOverloaded) refuses_since_.reset();
  NoteAttempt(*job, final.attempt);
  undealt_.insert(final.id);
  Outcome outcome = wire::ToOutcome(final, payloads.empty() ? std::string() : std::move(payloads[0]));
  if (payloads.size() > 1) outcome.receipt = std::move(payloads[1]);
  Finish(*job, std::move(outcome));
}

/// Of a job that is not unfinished here: told again, or of an earlier life.
void ClientCore::OnStrayFinal(const JobId& id) {
  if (undealt_.contains(id)) return;
  const bool earlier = adopts_ && !acked_ids_.contains(id) && unclaimed_.size() < kMostUnclaimed;
  if (earlier) {
    unclaimed_.insert(id);
  } else {
    NoteAcknowledged(id);
  }
}

void ClientCore::Acknowledge(const JobId& id) {
  if (undealt_.erase(id) + unclaimed_.erase(id) > 0) NoteAcknowledged(id);
}

void ClientCore::NoteAcknowledged(const JobId& id) {
  acks_.push_back(id.str());
  acked_.push_back(id);
  acked_ids_.insert(id);
  if (acked_.size() <= kRememberedAcks) return;
  acked_ids_.erase(acked_ids_.find(acked_.front()));
  acked_.pop_front();
}

void ClientCore::Finish(Job& job, Outcome outcome) {
  const JobId id = job.spec.id;
  if (outcome.error && !outcome.error->started && job.sent_before > 0) {
    outcome.error->started = true;  // nobody may rely on that it did not
    outcome.error->message += "; it may have run before, at a broker that was lost";
  }
  ReleaseCode(job);
  refused_.erase(job.number);
  jobs_.erase(id);
  events_.push_back(JobFinal{id, std::move(outcome)});
}

void ClientCore::LoseLink(TimePoint now) {
  link_ = LinkState::kConnecting;
  ++generation_;
  sends_.clear();
  connecting_since_ = now;
  // At once, but for a broker that sends us away again and again as soon as it has welcomed us.
  brief_links_ = now - linked_since_ < kHelloInterval ? brief_links_ + 1 : 0;
  next_hello_ = brief_links_ > 1 ? now + kHelloInterval : now;
}

void ClientCore::FailLink(Error error) {
  link_ = LinkState::kFailed;
  ++generation_;
  sends_.clear();
  failure_ = error;
  events_.push_back(LinkFailed{std::move(error)});
}

void ClientCore::OnTick(TimePoint now) {
  if (link_ == LinkState::kFailed) return;
  if (link_ == LinkState::kLinked && now - last_heard_ >= options_.broker_timeout) LoseLink(now);
  if (link_ == LinkState::kConnecting) {
    const Millis patience = ever_linked_ ? options_.reconnect_timeout : options_.connect_timeout;
    if (now - connecting_since_ >= patience) {
      return FailLink({ErrorKind::kUnavailable, "no broker answered at " + options_.broker + " within " +
                                                    std::to_string(patience.count()) + " ms"});
    }
    if (now >= next_hello_) {
      next_hello_ = now + kHelloInterval;
      wire::Hello hello;
      hello.session = session_;
      hello.tenant = options_.tenant;
      hello.capabilities = {"wasm", std::string(wire::kReproducibleCapability),
                            std::string(wire::kProgramsCapability), std::string(wire::kTurnsCapability),
                            std::string(wire::kQuietCapability)};
      if (standing_ == Standing::kOneOfSeveral) hello.capabilities.emplace_back(wire::kSpreadsCapability);
      hello.epoch = epoch_;
      hello.seen = seen_;
      hello.software = options_.software;
      Put(hello);
    }
    return;
  }
  if (now >= next_ping_) {
    next_ping_ = now + heartbeat_;
    Put(wire::Ping{});
  }
  SubmitDueAgain(now);
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    DelayedReply due = std::move(delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
    SendReply(due.call, std::move(due.reply));
  }
}

LinkHealth ClientCore::Health(TimePoint now) const {
  if (link_ == LinkState::kFailed) return {false, Millis(0)};
  const bool linked = link_ == LinkState::kLinked;
  const Millis patience = ever_linked_ ? options_.reconnect_timeout : options_.connect_timeout;
  const TimePoint end = (linked ? last_heard_ + options_.broker_timeout : connecting_since_) + patience;
  const Millis left = std::chrono::duration_cast<Millis>(end - now);
  const auto silence = now - last_heard_;
  // It is there already, where all it says is that it does not know us.
  if (!linked && said_bye_ && silence < kHelloInterval) return {true, std::max(left, Millis(0)), true};
  return {linked && silence < heartbeat_ * 5 / 2, std::max(left, Millis(0)),
          !linked || silence > heartbeat_ * 5 / 4, !linked && said_bye_};
}

TimePoint ClientCore::NextWake() const {
  if (link_ == LinkState::kFailed) return TimePoint::max();
  const Millis patience = ever_linked_ ? options_.reconnect_timeout : options_.connect_timeout;
  if (link_ == LinkState::kConnecting) return std::min(next_hello_, connecting_since_ + patience);
  TimePoint wake = std::min(next_ping_, last_heard_ + options_.broker_timeout);
  if (!retries_.empty()) wake = std::min(wake, retries_.begin()->first);
  if (!delayed_.empty()) wake = std::min(wake, delayed_.begin()->first);
  return wake;
}

}  // namespace skerry::client
