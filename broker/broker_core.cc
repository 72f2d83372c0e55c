#include "broker/broker_core.h"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/logging.h"
#include "common/printable.h"
#include "common/sandbox_level.h"
#include "common/utf8.h"
#include "common/wire/negotiate.h"
#include "common/wire/stats.h"

namespace skerry::broker {
namespace {

// A worker names all its leases in a HELLO.
constexpr std::uint64_t kMaxSlots = wire::kMaxArray;
// More than any machine has; keeps sums of credit far from overflow.
constexpr std::uint64_t kMaxWorkerMemoryMb = 1u << 26;
// Messages of a worker that are not about a job, between two heartbeats. It has reason for a handful: PING
// (one for each few MiB that it sends), PONG, CREDIT when a cell fails.
constexpr std::uint64_t kMaxControlMessages = 4000;
constexpr std::size_t kMaxReasonBytes = 1024;

constexpr std::size_t kMaxLabel = 64;
// The wire's bound.
constexpr std::size_t kMaxWorkerLibraries = 64;

/// What a worker says about itself, fit for a metric's label.
std::string Label(std::string_view text) {
  const std::string label = PrintableAscii(std::string(text.substr(0, kMaxLabel)));
  return label.empty() ? "unknown" : label;
}

/// A level that this broker knows; a worker's word for another is not shown.
std::string SandboxLabel(const std::string& told) {
  if (told.empty()) return "unknown";
  return SandboxLevelByName(told) ? told : "other";
}

WorkerKind KindOf(const wire::Hello& hello) {
  if (!wire::HasCapability(hello.capabilities, wire::kReproducibleCapability)) return {};
  if (!wire::HasCapability(hello.capabilities, wire::kProgramsCapability)) return {Skill::kReproducible, {}};
  WorkerKind kind{Skill::kPrograms, hello.libraries};
  std::sort(kind.libraries.begin(), kind.libraries.end());
  return kind;
}

bool Absurd(std::uint64_t slots, std::uint64_t memory_mb) {
  return slots > kMaxSlots || memory_mb > kMaxWorkerMemoryMb;
}

bool IsAboutAJob(const wire::Header& header) {
  return std::holds_alternative<wire::Event>(header) || std::holds_alternative<wire::Call>(header) ||
         std::holds_alternative<wire::Final>(header) || std::holds_alternative<wire::Need>(header);
}

}  // namespace

BrokerCore::BrokerCore(const BrokerConfig& config, TimePoint now)
    : config_(config),
      ledger_(config_, sessions_, workers_, outbox_, counters_, now),
      quarantine_(config.cut_off_time),
      next_epoch_(config.first_lease),
      next_beat_(now + config.heartbeat) {}

void BrokerCore::Refuse(const Peer& peer, PeerRefusal why, const std::string& reason) {
  counters_.Count(why);
  log::Warn("refused a peer", {{"side", peer.side == Side::kClient ? "client" : "worker"},
                               {"cause", NameOf(why)},
                               {"reason", reason}});
  std::string told(CutUtf8(reason, kMaxReasonBytes));
  // It may quote what the peer has sent, and must be a message that the peer can read.
  if (!IsUtf8Header(told)) told = PrintableAscii(std::move(told));
  outbox_.Put(peer, wire::Refuse{std::move(told)});
}

void BrokerCore::OnMessage(const Peer& from, wire::Header header, std::vector<Payload> payloads,
                           TimePoint now) {
  if (auto* hello = std::get_if<wire::Hello>(&header)) return OnHello(from, std::move(*hello), now);
  if (from.side == Side::kClient) {
    Session* session = sessions_.Find(from);
    if (session != nullptr && session->state == SessionState::kAway) {
      // It lives but was put away: its session waits for the HELLO that this BYE asks for.
      session->expires = now + RetentionOf(session->tenant);
      // What it has read is read. One that was put away for reading too little would else find everything as
      // it was after each HELLO, submit again, be put away again, and so on for ever.
      if (const auto* pong = std::get_if<wire::Pong>(&header)) ledger_.Confirm(*session, pong->number, now);
      if (!std::holds_alternative<wire::Bye>(header)) return outbox_.Put(from, wire::Bye{});
    }
    if (session != nullptr) return FromClient(*session, header, payloads, now);
  } else if (Worker* worker = workers_.Find(from)) {
    if (worker->state() != WorkerState::kAway) return FromWorker(*worker, header, payloads, now);
    // Its old link lives after all: the HELLO that this BYE asks for says what it holds.
    worker->last_heard = now;
    worker->away_until = now + config_.worker_return;
    return outbox_.Put(from, wire::Bye{});
  } else if (quarantine_.Ignores(from, now)) {
    return;
  }
  // An unknown peer has outlived what we knew of it (we were restarted, or gave it up): it must say HELLO
  // again.
  if (!std::holds_alternative<wire::Bye>(header)) outbox_.Put(from, wire::Bye{});
}

void BrokerCore::OnMalformed(const Peer& from, const std::string& why, TimePoint now) {
  ++counters_.malformed[static_cast<std::size_t>(from.side)];
  if (Worker* worker = workers_.Find(from)) return CutOff(*worker, "broken message: " + why, now);
  if (quarantine_.Ignores(from, now)) return;
  Refuse(from, PeerRefusal::kMalformed, "broken message: " + why);
  if (Session* session = sessions_.Find(from)) PutAway(*session, SessionEvent::kBroken, now);
}

void BrokerCore::OnUnknownType(const Peer& from, TimePoint now) {
  ++counters_.unknown_messages;
  if (Session* session = sessions_.Find(from)) {
    session->last_heard = now;
  } else if (Worker* worker = workers_.Find(from)) {
    worker->last_heard = now;
    if (Floods(*worker)) CutOff(*worker, "a flood of messages of unknown type", now);
  } else if (!quarantine_.Ignores(from, now)) {
    outbox_.Put(from, wire::Bye{});
  }
}

void BrokerCore::CutOff(Worker& worker, const std::string& lie, TimePoint now) {
  ++counters_.workers_cut_off;
  log::Error("worker is cut off", {{"worker", worker.session.str()}, {"reason", lie}});
  quarantine_.Add(worker.session, worker.link, lie, now);
  Refuse(worker.link, PeerRefusal::kCutOff, "cut off: " + lie);
  EndWorker(worker, WorkerEvent::kLie, "its worker was cut off", now);
}

void BrokerCore::EndWorker(Worker& worker, WorkerEvent event, const std::string& why, TimePoint now) {
  workers_.Advance(worker, event);
  ledger_.WorkerGone(worker, why, now);
}

bool BrokerCore::Floods(Worker& worker) {
  return ++worker.control_messages > kMaxControlMessages;
}

void BrokerCore::OnHello(const Peer& from, wire::Hello hello, TimePoint now) {
  const wire::Role expected = from.side == Side::kClient ? wire::Role::kClient : wire::Role::kWorker;
  const auto version = wire::AgreeOnVersion({wire::kOldestVersion, wire::kVersion},
                                            {hello.oldest_version, hello.version}, wire::NameOf(hello.role));
  if (!version) return Refuse(from, PeerRefusal::kVersion, version.error().message);
  const bool wrong_key = from.proof != nullptr && from.proof->side != from.side;
  if (hello.role != expected || wrong_key) {
    return Refuse(from, PeerRefusal::kRole,
                  "this endpoint is for " + std::string(wire::NameOf(expected)) +
                      "s; the broker has another for " + std::string(wire::NameOf(hello.role)) + "s");
  }
  if (hello.session.empty()) return Refuse(from, PeerRefusal::kHello, "hello.session must not be empty");
  if (!IsPrintableId(hello.session.str()) || !IsPrintableId(hello.tenant.str())) {
    return Refuse(from, PeerRefusal::kHello,
                  "hello.session and hello.tenant must not contain control characters");
  }
  if (from.proof != nullptr && !TakeProof(from, hello)) return;
  hello.session = ScopedTo(from, hello.session);
  // Workers are told it, as an id.
  if (hello.session.str().size() > kMaxIdBytes) {
    return Refuse(from, PeerRefusal::kHello,
                  "hello.session is too long: with the name of its key's owner before it, it may have " +
                      std::to_string(kMaxIdBytes) + " bytes");
  }
  if (IsAnothers(from, hello.session)) {
    return Refuse(from, PeerRefusal::kHello, "this connection is another session's already");
  }
  wire::Welcome welcome;
  welcome.version = *version;
  welcome.capabilities = {std::string(wire::kStatsCapability),    std::string(wire::kReproducibleCapability),
                          std::string(wire::kProgramsCapability), std::string(wire::kTurnsCapability),
                          std::string(wire::kQuietCapability),    std::string(wire::kSpreadsCapability)};
  if (config_.allow_wasm) welcome.capabilities.emplace_back("wasm");
  welcome.capabilities = wire::CommonCapabilities(welcome.capabilities, hello.capabilities);
  welcome.session_ttl_ms = static_cast<std::uint64_t>(RetentionOf(hello.tenant).count());
  welcome.heartbeat_ms = static_cast<std::uint64_t>(config_.heartbeat.count());
  if (from.side == Side::kClient) return WelcomeClient(from, hello, welcome, now);
  WelcomeWorker(from, hello, welcome, now);
}

/// One connection that greets under ever new names would leave a record of each.
bool BrokerCore::IsAnothers(const Peer& link, const SessionId& session) {
  const Session* client = sessions_.Find(link);
  const Worker* worker = workers_.Find(link);
  return (client != nullptr && client->id != session) || (worker != nullptr && worker->session != session);
}

void BrokerCore::WelcomeClient(const Peer& from, const wire::Hello& hello, wire::Welcome welcome,
                               TimePoint now) {
  bool known = sessions_.Knows(hello.session);
  // What is on its way to a link stays there, however often the same link greets: forgetting it would let a
  // client that reads nothing have ever more sent to it.
  const Session* before = sessions_.Find(from);
  const bool intact = before != nullptr && !before->lost_messages;
  if (!known && sessions_.size() >= config_.max_peers) {
    return Refuse(from, PeerRefusal::kTooMany,
                  "there are " + std::to_string(sessions_.size()) + " clients already");
  }
  Session& session = sessions_.Connect(hello.session, from, now);
  session.tenant = hello.tenant;
  session.quiet = wire::HasCapability(welcome.capabilities, wire::kQuietCapability);
  session.spreads = wire::HasCapability(welcome.capabilities, wire::kSpreadsCapability);
  session.knows_need = wire::HasCapability(welcome.capabilities, wire::kProgramsCapability);
  if (!known) session.epoch = next_epoch_++;
  // One whose WELCOME into this life of the session was lost still counts in the one before.
  known = known && (hello.epoch == 0 || hello.epoch == session.epoch);
  welcome.epoch = session.epoch;
  welcome.credit = config_.client_credit;
  welcome.resumed = known;
  const LogFields fields = {{"client", session.id.str()}, {"software", hello.software}};
  if (known) {
    log::Info("client is back", fields);
  } else {
    log::Info("client connected", fields);
  }
  outbox_.Put(from, welcome);
  if (intact) return ledger_.Resume(session);
  session.lost_messages = false;
  ledger_.Resend(session, known ? hello.seen : 0);
}

void BrokerCore::WelcomeWorker(const Peer& from, const wire::Hello& hello, wire::Welcome welcome,
                               TimePoint now) {
  if (const auto refused = quarantine_.ReasonFor(hello.session, now))
    return Refuse(from, PeerRefusal::kCutOff, *refused);
  // No slots: its cell is being started again; a CREDIT follows.
  if (hello.memory_mb < 1 || Absurd(hello.slots, hello.memory_mb)) {
    return Refuse(from, PeerRefusal::kHello,
                  "hello.slots must be 0 to " + std::to_string(kMaxSlots) + " and hello.memoryMb 1 to " +
                      std::to_string(kMaxWorkerMemoryMb));
  }
  if (const auto fault = FaultInLibraries(hello.libraries, kMaxWorkerLibraries))
    return Refuse(from, PeerRefusal::kHello, "hello." + *fault);
  WorkerKind kind = KindOf(hello);
  if (!workers_.HasRoomFor(kind)) {
    return Refuse(from, PeerRefusal::kTooMany,
                  "the workers have " + std::to_string(WorkerRegistry::kMaxKinds) +
                      " different sets of libraries already: give them the same ones");
  }
  const bool known = workers_.Knows(hello.session);
  if (!known && workers_.size() >= config_.max_peers) {
    return Refuse(from, PeerRefusal::kTooMany,
                  "there are " + std::to_string(workers_.size()) + " workers already");
  }
  quarantine_.Pardon(from);
  Worker& worker = workers_.Connect(hello.session, from, now);
  if (Floods(worker)) return CutOff(worker, "a flood of HELLOs", now);
  workers_.Introduce(worker, {Label(hello.software), Label(hello.v8), SandboxLabel(hello.sandbox)},
                     std::move(kind), {hello.slots, hello.memory_mb},
                     hello.job_memory_mb == 0 ? UINT64_MAX : hello.job_memory_mb);
  worker.host = PrintableAscii(hello.host);
  worker.pid = hello.pid;
  const LogFields fields = {{"worker", worker.session.str()}, {"slots", hello.slots},
                            {"memoryMb", hello.memory_mb},    {"jobs", worker.used_slots()},
                            {"software", hello.software},     {"v8", hello.v8},
                            {"sandbox", hello.sandbox}};
  if (known) {
    log::Info("worker is back", fields);
  } else {
    log::Info("worker connected", fields);
  }
  welcome.resumed = known;
  // Before it is given up, though it may have heard a PING later than it was heard itself, and looks at its
  // clock only every half heartbeat.
  welcome.session_ttl_ms = static_cast<std::uint64_t>((config_.peer_timeout - 2 * config_.heartbeat).count());
  outbox_.Put(from, welcome);
  // One that we do not know ends by itself what it may still run; that runs elsewhere, or ran.
  if (known) ledger_.Reconcile(worker, hello.leases, now);
  ledger_.Unpark();
  ledger_.Dispatch(now);
}

void BrokerCore::FromClient(Session& session, wire::Header& header, std::vector<Payload>& payloads,
                            TimePoint now) {
  session.last_heard = now;
  std::visit(
      [&](auto& message) {
        using Message = std::remove_cvref_t<decltype(message)>;
        if constexpr (std::is_same_v<Message, wire::Submit>) {
          ledger_.Submit(session, std::move(message.job), std::move(payloads), now);
        } else if constexpr (std::is_same_v<Message, wire::Cancel>) {
          ledger_.Cancel(session, message.id, now);
        } else if constexpr (std::is_same_v<Message, wire::Answer>) {
          ledger_.Answer(session, std::move(message), std::move(payloads));
        } else if constexpr (std::is_same_v<Message, wire::Ack>) {
          ledger_.Acknowledge(session, message.ids, now);
        } else if constexpr (std::is_same_v<Message, wire::Ping>) {
          outbox_.Put(session.link, wire::Pong{message.number});
        } else if constexpr (std::is_same_v<Message, wire::Pong>) {
          ledger_.Confirm(session, message.number, now);
        } else if constexpr (std::is_same_v<Message, wire::Bye>) {
          log::Info("client said bye", {{"client", session.id.str()}, {"jobs", session.unfinished}});
          ledger_.Abandon(session, SessionEvent::kBye, now);
        } else {
          Refuse(session.link, PeerRefusal::kUnexpected,
                 "a client does not send " + std::string(Message::kType));
          PutAway(session, SessionEvent::kBroken, now);
        }
      },
      header);
}

void BrokerCore::FromWorker(Worker& worker, wire::Header& header, std::vector<Payload>& payloads,
                            TimePoint now) {
  worker.last_heard = now;
  if (!IsAboutAJob(header) && Floods(worker)) {
    return CutOff(worker, "more than " + std::to_string(kMaxControlMessages) + " messages in a heartbeat",
                  now);
  }
  if (const std::uint64_t seq = wire::SeqOf(header); seq > 0) {
    if (seq <= worker.seen) {
      ++counters_.repeated_messages;
      return;
    }
    worker.seen = seq;
  }
  const auto lie = std::visit(
      [&](auto& message) -> std::optional<std::string> {
        using Message = std::remove_cvref_t<decltype(message)>;
        if constexpr (std::is_same_v<Message, wire::Event> || std::is_same_v<Message, wire::Call>) {
          return ledger_.Relay(worker, std::move(message), std::move(payloads));
        } else if constexpr (std::is_same_v<Message, wire::Final>) {
          return ledger_.Finish(worker, std::move(message), std::move(payloads), now);
        } else if constexpr (std::is_same_v<Message, wire::Need>) {
          return ledger_.SendCode(worker, message, payloads.size(), now);
        } else if constexpr (std::is_same_v<Message, wire::Credit>) {
          return OnCredit(worker, message, now);
        } else if constexpr (std::is_same_v<Message, wire::Stats>) {
          return TakeStats(worker, message);
        } else if constexpr (std::is_same_v<Message, wire::Drain>) {
          log::Info("worker drains", {{"worker", worker.session.str()}, {"jobs", worker.used_slots()}});
          workers_.Advance(worker, WorkerEvent::kDrain);
        } else if constexpr (std::is_same_v<Message, wire::Ping>) {
          outbox_.Put(worker.link, wire::Pong{message.number});
        } else if constexpr (std::is_same_v<Message, wire::Pong>) {
          worker.answers.Confirm(message.number);
        } else if constexpr (std::is_same_v<Message, wire::Bye>) {
          log::Info("worker said bye", {{"worker", worker.session.str()}, {"jobs", worker.used_slots()}});
          EndWorker(worker, WorkerEvent::kBye, "its worker went away", now);
        } else {
          return "a worker does not send " + std::string(Message::kType);
        }
        return std::nullopt;
      },
      header);
  if (lie) CutOff(worker, *lie, now);
}

std::optional<std::string> BrokerCore::OnCredit(Worker& worker, const wire::Credit& credit, TimePoint now) {
  if (Absurd(credit.slots, credit.memory_mb)) {
    return "a credit of " + std::to_string(credit.slots) + " slots and " + std::to_string(credit.memory_mb) +
           " MiB";
  }
  workers_.SetCredit(worker, {credit.slots, credit.memory_mb});
  ledger_.Dispatch(now);
  return std::nullopt;
}

std::optional<std::string> BrokerCore::TakeStats(Worker& worker, const wire::Stats& stats) {
  const WorkerStats told = wire::FromStats(stats);
  const auto fresh = NewSince(told, worker.stats());
  if (!fresh) return "figures that cannot be: " + fresh.error().message;
  counters_.workers.AddCounts(*fresh);
  workers_.SetStats(worker, told);
  return std::nullopt;
}

BrokerGauges BrokerCore::gauges() const {
  const KeptForClient& kept = ledger_.kept();
  return {ledger_.queue().size(),
          ledger_.queue().bytes(),
          ledger_.queue().parked(),
          ledger_.program_bytes(),
          workers_.Sums(),
          SessionSums{sessions_.size(), sessions_.away(), kept.finals, kept.final_bytes, kept.own_bytes},
          workers_.Builds(),
          ledger_.rates().sums()};
}

void BrokerCore::OnUndeliverable(Send send, TimePoint now) {
  if (Session* session = sessions_.Find(send.peer)) {
    // What it must have is kept: its pipe and its finals begin anew with its next HELLO.
    session->lost_messages = true;
    return PutAway(*session, SessionEvent::kUnreachable, now);
  }
  Worker* worker = workers_.Find(send.peer);
  if (worker == nullptr) return;
  if (workers_.Advance(*worker, WorkerEvent::kUnreachable)) {
    log::Warn("worker cannot be reached; its jobs are its own for a while",
              {{"worker", worker->session.str()}, {"returnMs", config_.worker_return.count()}});
    worker->away_until = now + config_.worker_return;
  }
  if (const auto* dispatch = std::get_if<wire::Dispatch>(&send.header)) {
    ledger_.DispatchFailed(*worker, dispatch->lease, now);
    ledger_.Dispatch(now);
  }
}

void BrokerCore::PutAway(Session& session, SessionEvent why, TimePoint now) {
  if (!sessions_.GoAway(session, why, now + RetentionOf(session.tenant))) return;
  log::Info("client is away",
            {{"client", session.id.str()}, {"cause", NameOf(why)}, {"jobs", session.unfinished}});
  ledger_.PutAway(session, now);
}

Millis BrokerCore::RetentionOf(const TenantId& tenant) const {
  return ledger_.tenants().Of(tenant).retention.value_or(config_.session_ttl);
}

void BrokerCore::SetTenants(Tenants tenants, TimePoint now) {
  log::Info("tenants are set", {{"named", tenants.named()}});
  ledger_.SetTenants(std::move(tenants));
  ledger_.Dispatch(now);
}

void BrokerCore::OnTick(TimePoint now) {
  ledger_.ExpireQueued(now);
  if (now < next_beat_) return;
  next_beat_ = now + config_.heartbeat;
  DropSilentPeers(now);
  ledger_.ExpireLeases(now);
  ledger_.GiveBack(now);
  ledger_.Dispatch(now);  // what was kept for who might have come is anybody's after a while
  PingAll();
}

void BrokerCore::DropSilentPeers(TimePoint now) {
  for (Session* session : sessions_.All()) {
    if (session->state == SessionState::kLinked && now - session->last_heard >= config_.peer_timeout) {
      PutAway(*session, SessionEvent::kSilent, now);
    } else if (session->state == SessionState::kAway && now >= session->expires) {
      log::Info("client did not come back", {{"client", session->id.str()}});
      ledger_.Abandon(*session, SessionEvent::kTtl, now);
    }
  }
  for (Worker* worker : workers_.All()) {
    const bool late = worker->state() == WorkerState::kAway && now >= worker->away_until;
    if (!late && now - worker->last_heard < config_.peer_timeout) continue;
    log::Warn("worker is given up", {{"worker", worker->session.str()},
                                     {"cause", late ? "did not come back" : "silent too long"},
                                     {"jobs", worker->used_slots()}});
    EndWorker(*worker, WorkerEvent::kSilent, "its worker went away", now);
  }
}

void BrokerCore::PingAll() {
  for (Session* session : sessions_.All()) ledger_.Ping(*session);
  for (Worker* worker : workers_.All()) {
    worker->control_messages = 0;
    if (worker->state() != WorkerState::kAway)
      outbox_.Put(worker->link, wire::Ping{worker->answers.NextPing()});
  }
}

TimePoint BrokerCore::NextWake() const {
  const auto deadline = ledger_.queue().NextDeadline();
  return deadline ? std::min(*deadline, next_beat_) : next_beat_;
}

}  // namespace skerry::broker
