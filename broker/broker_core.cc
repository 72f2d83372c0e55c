#include "broker/broker_core.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace skerry::broker {
namespace {

// More than any machine has; keeps sums of credit far from overflow.
constexpr std::uint64_t kMaxSlots = 1u << 20;
constexpr std::uint64_t kMaxWorkerMemoryMb = 1u << 26;

bool VersionsOverlap(const wire::Hello& hello) {
  return hello.oldest_version <= wire::kVersion && hello.version >= wire::kOldestVersion;
}

}  // namespace

BrokerCore::BrokerCore(const BrokerConfig& config, TimePoint now)
    : config_(config),
      ledger_(config_, sessions_, workers_, outbox_, counters_),
      next_beat_(now + config.heartbeat) {}

void BrokerCore::Refuse(const Peer& peer, std::string reason) {
  spdlog::warn("refused a {}: {}", peer.side == Side::kClient ? "client" : "worker", reason);
  outbox_.Put(peer, wire::Refuse{std::move(reason)});
}

void BrokerCore::OnMessage(const Peer& from, wire::Header header, std::vector<Payload> payloads,
                           TimePoint now) {
  if (const auto* hello = std::get_if<wire::Hello>(&header)) return OnHello(from, *hello, now);
  if (from.side == Side::kClient) {
    Session* session = sessions_.Find(from);
    if (session != nullptr && session->state == SessionState::kAway) {
      // It lives but was put away: its session waits for the HELLO that this BYE asks for.
      session->expires = now + config_.session_ttl;
      if (!std::holds_alternative<wire::Bye>(header)) return outbox_.Put(from, wire::Bye{});
    }
    if (session != nullptr) return FromClient(*session, header, payloads, now);
  } else if (Worker* worker = workers_.Find(from)) {
    return FromWorker(*worker, header, payloads, now);
  }
  // An unknown peer has outlived what we knew of it (we were restarted, or gave it up): it must say HELLO
  // again.
  if (!std::holds_alternative<wire::Bye>(header)) outbox_.Put(from, wire::Bye{});
}

void BrokerCore::OnMalformed(const Peer& from, const std::string& why, TimePoint now) {
  Refuse(from, "broken message: " + why);
  if (Session* session = sessions_.Find(from)) PutAway(*session, now);
  if (Worker* worker = workers_.Find(from)) ledger_.WorkerGone(*worker, now);
}

void BrokerCore::OnHello(const Peer& from, const wire::Hello& hello, TimePoint now) {
  const wire::Role expected = from.side == Side::kClient ? wire::Role::kClient : wire::Role::kWorker;
  if (!VersionsOverlap(hello)) {
    return Refuse(from, "it speaks wire versions " + std::to_string(hello.oldest_version) + " to " +
                            std::to_string(hello.version) + ", this broker " +
                            std::to_string(wire::kOldestVersion) + " to " + std::to_string(wire::kVersion));
  }
  if (hello.role != expected) {
    return Refuse(from, "this endpoint is for " + std::string(wire::NameOf(expected)) + "s");
  }
  if (hello.session.empty()) return Refuse(from, "hello.session must not be empty");
  if (IsAnothers(from, hello.session)) return Refuse(from, "this connection is another session's already");
  wire::Welcome welcome;
  welcome.version = std::min(hello.version, wire::kVersion);
  welcome.session_ttl_ms = static_cast<std::uint64_t>(config_.session_ttl.count());
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
  const bool known = sessions_.Knows(hello.session);
  if (!known && sessions_.size() >= config_.max_peers) {
    return Refuse(from, "there are " + std::to_string(sessions_.size()) + " clients already");
  }
  Session& session = sessions_.Connect(hello.session, from, now);
  session.tenant = hello.tenant;
  welcome.credit = config_.client_credit;
  welcome.resumed = known;
  spdlog::info("client {} {} ({})", session.id.str(), known ? "is back" : "connected",
               hello.software.substr(0, 100));
  outbox_.Put(from, welcome);
  ledger_.Resend(session);
}

void BrokerCore::WelcomeWorker(const Peer& from, const wire::Hello& hello, wire::Welcome welcome,
                               TimePoint now) {
  // No slots: its cell is being started again; a CREDIT follows.
  if (hello.slots > kMaxSlots || hello.memory_mb < 1 || hello.memory_mb > kMaxWorkerMemoryMb) {
    return Refuse(from, "hello.slots and hello.memoryMb must be possible, and memoryMb positive");
  }
  if (workers_.size() >= config_.max_peers) {
    return Refuse(from, "there are " + std::to_string(workers_.size()) + " workers already");
  }
  welcome.resumed = workers_.Knows(hello.session);
  Worker& worker = workers_.Connect(hello.session, from, now);
  worker.slots = hello.slots;
  worker.memory_mb = hello.memory_mb;
  worker.full_memory_mb = hello.memory_mb;
  worker.draining = false;
  spdlog::info("worker {} connected: {} slots, {} MiB, {} jobs in hand ({})", worker.session.str(),
               worker.slots, worker.memory_mb, worker.used_slots(), hello.software.substr(0, 100));
  outbox_.Put(from, welcome);
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
          ledger_.Acknowledge(session, message.ids);
        } else if constexpr (std::is_same_v<Message, wire::Ping>) {
          outbox_.Put(session.link, wire::Pong{});
        } else if constexpr (std::is_same_v<Message, wire::Bye>) {
          spdlog::info("client {} said bye with {} jobs unfinished", session.id.str(), session.unfinished);
          ledger_.Abandon(session, now);
        } else if constexpr (!std::is_same_v<Message, wire::Pong>) {
          Refuse(session.link, "a client does not send " + std::string(Message::kType));
        }
      },
      header);
}

void BrokerCore::FromWorker(Worker& worker, wire::Header& header, std::vector<Payload>& payloads,
                            TimePoint now) {
  worker.last_heard = now;
  std::visit(
      [&](auto& message) {
        using Message = std::remove_cvref_t<decltype(message)>;
        if constexpr (std::is_same_v<Message, wire::Event> || std::is_same_v<Message, wire::Call>) {
          ledger_.Relay(worker, std::move(message), std::move(payloads));
        } else if constexpr (std::is_same_v<Message, wire::Final>) {
          ledger_.Finish(worker, std::move(message), std::move(payloads), now);
        } else if constexpr (std::is_same_v<Message, wire::Credit>) {
          worker.slots = std::min(message.slots, kMaxSlots);
          worker.memory_mb = std::min(message.memory_mb, kMaxWorkerMemoryMb);
          worker.full_memory_mb = std::max(worker.full_memory_mb, worker.memory_mb);
          ledger_.Dispatch(now);
        } else if constexpr (std::is_same_v<Message, wire::Drain>) {
          spdlog::info("worker {} drains, {} jobs in hand", worker.session.str(), worker.used_slots());
          worker.draining = true;
        } else if constexpr (std::is_same_v<Message, wire::Ping>) {
          outbox_.Put(worker.link, wire::Pong{});
        } else if constexpr (std::is_same_v<Message, wire::Bye>) {
          spdlog::info("worker {} said bye, {} jobs in hand", worker.session.str(), worker.used_slots());
          ledger_.WorkerGone(worker, now);
        } else if constexpr (!std::is_same_v<Message, wire::Pong>) {
          Refuse(worker.link, "a worker does not send " + std::string(Message::kType));
        }
      },
      header);
}

void BrokerCore::OnUndeliverable(Send send, TimePoint now) {
  if (Session* session = sessions_.Find(send.peer)) {
    if (session->state == SessionState::kLinked) PutAway(*session, now);
    return ledger_.Undelivered(*session, std::move(send));
  }
  if (Worker* worker = workers_.Find(send.peer)) {
    spdlog::warn("worker {} cannot be reached", worker->session.str());
    if (const auto* dispatch = std::get_if<wire::Dispatch>(&send.header)) {
      ledger_.DispatchFailed(*worker, dispatch->lease, now);
    }
    ledger_.WorkerGone(*worker, now);
  }
}

void BrokerCore::PutAway(Session& session, TimePoint now) {
  if (session.state != SessionState::kLinked) return;
  spdlog::info("client {} is away with {} jobs unfinished", session.id.str(), session.unfinished);
  sessions_.GoAway(session, now + config_.session_ttl);
}

void BrokerCore::OnTick(TimePoint now) {
  ledger_.ExpireQueued(now);
  if (now < next_beat_) return;
  next_beat_ = now + config_.heartbeat;
  DropSilentPeers(now);
  ledger_.ExpireLeases(now);
  PingAll();
}

void BrokerCore::DropSilentPeers(TimePoint now) {
  for (Session* session : sessions_.All()) {
    if (session->state == SessionState::kLinked && now - session->last_heard >= config_.peer_timeout) {
      PutAway(*session, now);
    } else if (session->state == SessionState::kAway && now >= session->expires) {
      spdlog::info("client {} did not come back", session->id.str());
      ledger_.Abandon(*session, now);
    }
  }
  for (Worker* worker : workers_.All()) {
    if (now - worker->last_heard < config_.peer_timeout) continue;
    spdlog::warn("worker {} was silent too long, {} jobs in hand", worker->session.str(),
                 worker->used_slots());
    ledger_.WorkerGone(*worker, now);
  }
}

void BrokerCore::PingAll() {
  for (Session* session : sessions_.All()) {
    if (session->state == SessionState::kLinked) outbox_.Put(session->link, wire::Ping{});
  }
  for (Worker* worker : workers_.All()) outbox_.Put(worker->link, wire::Ping{});
}

TimePoint BrokerCore::NextWake() const {
  const auto deadline = ledger_.queue().NextDeadline();
  return deadline ? std::min(*deadline, next_beat_) : next_beat_;
}

}  // namespace skerry::broker
