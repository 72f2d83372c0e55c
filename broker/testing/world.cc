#include "broker/testing/world.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace skerry::broker::testing {
namespace {

constexpr std::array<const char*, kActCount> kActs = {
    "time passes",
    "submits",
    "cancels",
    "reads",
    "loses its link",
    "acknowledges nothing any more, or again",
    "has what it sent arrive",
    "finishes a job",
    "reports an event",
    "calls its client",
    "changes its credit",
    "drains",
    "loses its link",
    "is killed",
    "lies",
    "sends garbage",
    "silence of all",
};

bool IsClients(Act act) {
  return act >= Act::kSubmit && act <= Act::kAckNothing;
}

[[noreturn]] void Broken(const std::string& promise) {
  throw std::runtime_error(promise);
}

void Demand(bool holds, const std::string& promise) {
  if (!holds) Broken(promise);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Step& step) {
  if (step.act != Act::kPass && step.act != Act::kSilence)
    out << (IsClients(step.act) ? "client " : "worker ") << step.who << " ";
  return out << kActs.at(static_cast<std::size_t>(step.act)) << " (" << step.what << ")\n";
}

BrokerConfig World::Config() {
  BrokerConfig config;
  config.max_queued = 8;
  config.client_credit = 6;
  config.max_unacked_finals = 4;
  config.max_unacked_bytes = Bytes::KiB(16);
  config.client_window = Bytes::KiB(4);
  config.max_backlog_bytes = Bytes::KiB(8);
  config.max_held_bytes = Bytes::KiB(24);
  config.cut_off_time = Millis(5'000);
  return config;
}

World::World() : config_(Config()), core_(config_, now_) {
  for (unsigned i = 0; i < kPeers; ++i) {
    clients_[i].session = SessionId("session" + std::to_string(i));
    clients_[i].link = NewLink("c");
    HelloFrom(clients_[i]);
    Read(clients_[i]);
    StartWorker(workers_[i]);
  }
}

void World::Play(const Step& step) {
  if (step.act == Act::kPass) {
    Pass(Millis(1 + step.what * 2), true);
  } else if (step.act == Act::kSilence) {
    Pass(Millis(step.what * 15), false);
  } else if (IsClients(step.act)) {
    PlayClient(clients_.at(step.who), step);
  } else {
    PlayWorker(workers_.at(step.who), step);
  }
  Check();
}

void World::Pass(Millis time, bool talking) {
  for (const TimePoint until = now_ + time; now_ < until;) {
    now_ = std::min(std::max(core_.NextWake(), now_ + Millis(1)), until);
    for (Worker& worker : workers_) {
      if (talking) Deliver(worker);
    }
    for (Client& client : clients_) {
      if (talking) Say(client, wire::Ping{});
    }
    core_.OnTick(now_);
    Collect();
  }
}

void World::PlayClient(Client& client, const Step& step) {
  switch (step.act) {
    case Act::kSubmit:
      return Submit(client, step);
    case Act::kCancel: {
      if (client.unfinished.empty()) return;
      const auto job = std::next(client.unfinished.begin(),
                                 static_cast<std::ptrdiff_t>(step.what % client.unfinished.size()));
      return Say(client, wire::Cancel{JobId(job->first), LeaseId()});
    }
    case Act::kRead:
      return Read(client);
    case Act::kBreakClient:
      dead_links_.insert({Side::kClient, client.link});
      client.link = NewLink("c");
      client.linked = false;
      client.inbox.clear();
      return HelloFrom(client);
    default:
      client.acknowledges = !client.acknowledges;
  }
}

void World::HelloFrom(Client& client) {
  wire::Hello hello;
  hello.session = client.session;
  hello.epoch = client.epoch;
  hello.seen = client.seen;
  client.linked = false;
  core_.OnMessage({Side::kClient, client.link}, hello, {}, now_);
  Collect();
}

void World::Say(Client& client, wire::Header header, std::vector<Payload> payloads) {
  if (!client.linked) return;  // it has its HELLO out
  core_.OnMessage({Side::kClient, client.link}, std::move(header), std::move(payloads), now_);
  Collect();
}

void World::Submit(Client& client, const Step& step) {
  if (client.unfinished.size() >= config_.client_credit) return;
  JobSpec spec;
  spec.id = JobId("j" + std::to_string(next_id_++));
  spec.tenant = TenantId("t");
  spec.retry = static_cast<Retry>(step.what % 3);
  spec.admission = static_cast<Admission>(step.what % 7 == 0);
  spec.limits = {{"timeoutMs", 1'000}, {"memoryMb", 64 + 64 * (step.what % 5)}};
  if (step.what % 4 == 0) spec.deadline_ms = 1 + step.what;
  client.submitted.insert(spec.id.str());
  client.unfinished.emplace(spec.id.str(), spec);
  Say(client, wire::Submit{spec}, {Payload(std::string("code")), Payload(std::string("1"))});
}

void World::Read(Client& client) {
  while (!client.inbox.empty()) {
    Send send = std::move(client.inbox.front());
    client.inbox.pop_front();
    Take(client, send);
  }
  if (!client.acknowledges || client.to_ack.empty()) return;
  Say(client, wire::Ack{client.to_ack});
  client.to_ack.clear();
}

void World::Take(Client& client, Send& send) {
  if (const auto* welcome = std::get_if<wire::Welcome>(&send.header)) {
    client.linked = true;
    client.read = 0;
    if (welcome->epoch != client.epoch) client.seen = 0;
    client.epoch = welcome->epoch;
    for (const auto& [id, spec] : std::map(client.unfinished))
      Say(client, wire::Submit{spec}, {Payload(std::string("code")), Payload(std::string("1"))});
    return;
  }
  if (!client.linked) return;
  if (const auto* ping = std::get_if<wire::Ping>(&send.header)) return Say(client, wire::Pong{ping->number});
  if (std::holds_alternative<wire::Bye>(send.header)) return HelloFrom(client);
  const auto* final = std::get_if<wire::Final>(&send.header);
  if (final != nullptr) client.to_ack.push_back(final->id.str());
  const std::uint64_t seq = wire::SeqOf(send.header);
  if (seq == 0) return;
  Demand(seq > client.read, "numbers go up");
  client.read = seq;
  if (seq <= client.seen) return;
  client.seen = seq;
  std::visit(
      [&](const auto& message) {
        if constexpr (requires { message.id; }) {
          Demand(client.submitted.contains(message.id.str()), "a client hears of its own jobs only");
        }
      },
      send.header);
  const std::string text(send.payloads.empty() ? std::string_view() : send.payloads[0].bytes());
  if (final == nullptr || final->ok) {
    const std::string name = std::visit(
        [](const auto& message) -> std::string {
          if constexpr (requires { message.id; }) return message.id.str();
          return {};
        },
        send.header);
    Demand(text.starts_with(client.session.str() + "|" + name + "|"), "payloads are never mixed: " + text);
  }
  if (final == nullptr) {
    if (const auto* call = std::get_if<wire::Call>(&send.header)) {
      Say(client, wire::Answer{call->id, LeaseId(), call->attempt, call->call, wire::AnswerKind::kValue},
          {Payload(std::string("1"))});
    }
    return;
  }
  if (client.unfinished.erase(final->id.str()) > 0) ++client.finals[final->id.str()];
}

void World::PlayWorker(Worker& worker, const Step& step) {
  const auto some_lease = [&] {
    return std::next(worker.held.begin(), static_cast<std::ptrdiff_t>(step.what % worker.held.size()))->first;
  };
  switch (step.act) {
    case Act::kDeliver:
      return Deliver(worker);
    case Act::kFinish:
      if (!worker.held.empty()) End(worker, some_lease(), step.what);
      return;
    case Act::kEvent:
    case Act::kCall: {
      if (worker.held.empty()) return;
      const std::uint64_t lease = some_lease();
      Held& held = worker.held.at(lease);
      const Payload text(held.payload + std::string(step.what, 'e'));
      if (step.act == Act::kCall) {
        return Tell(worker, wire::Call{JobId(), LeaseId(lease), held.attempt, ++held.calls}, {text, text});
      }
      wire::Event event;
      event.lease = LeaseId(lease);
      event.attempt = held.attempt;
      return Tell(worker, event, {text});
    }
    case Act::kCredit:
      if (!worker.welcomed) return;
      Deliver(worker);
      if (!worker.welcomed) return;
      worker.slots = step.what % 4;
      worker.memory_mb = 64 * (step.what % 20);
      Tell(worker, wire::Credit{worker.slots, worker.memory_mb}, {});
      return Deliver(worker);
    case Act::kDrain:
      return Tell(worker, wire::Drain{}, {});
    case Act::kBreakWorker:
      dead_links_.insert({Side::kWorker, worker.link});
      worker.link = NewLink("w");
      worker.out.clear();
      worker.inbox.clear();
      return HelloFrom(worker);
    case Act::kKillWorker:
      dead_links_.insert({Side::kWorker, worker.link});
      return StartWorker(worker);
    case Act::kLie:
      return Lie(worker, step.what);
    default:
      core_.OnMalformed({Side::kWorker, worker.link}, "no map", now_);
      return Collect();
  }
}

void World::StartWorker(Worker& worker) {
  worker = Worker();
  worker.session = SessionId("worker" + std::to_string(next_worker_++));
  worker.link = NewLink("w");
  HelloFrom(worker);
}

void World::HelloFrom(Worker& worker) {
  worker.welcomed = false;
  wire::Hello hello;
  hello.role = wire::Role::kWorker;
  hello.session = worker.session;
  hello.slots = worker.slots = 3;
  hello.memory_mb = worker.memory_mb = 1024;
  for (const auto& [lease, held] : worker.held) hello.leases.emplace_back(lease);
  for (const Sent& sent : worker.unconfirmed) {
    if (const auto* final = std::get_if<wire::Final>(&sent.header)) hello.leases.push_back(final->lease);
  }
  core_.OnMessage({Side::kWorker, worker.link}, hello, {}, now_);
  Collect();
}

void World::OnWelcome(Worker& worker, const wire::Welcome& welcome) {
  worker.welcomed = true;
  worker.out.clear();
  if (welcome.resumed) {
    worker.out = worker.unconfirmed;
  } else {
    worker.held.clear();
    worker.unconfirmed.clear();
  }
}

void World::Tell(Worker& worker, wire::Header header, std::vector<Payload> payloads) {
  const bool counted = wire::SetSeq(header, worker.seq + 1);
  if (counted) ++worker.seq;
  Sent sent{std::move(header), std::move(payloads), worker.pings + 1};
  if (counted) worker.unconfirmed.push_back(sent);
  if (worker.welcomed) worker.out.push_back(std::move(sent));
}

void World::Deliver(Worker& worker) {
  if (!worker.welcomed) return;
  const std::string link = worker.link;
  while (!worker.out.empty() && worker.link == link) {
    Sent sent = std::move(worker.out.front());
    worker.out.pop_front();
    core_.OnMessage({Side::kWorker, link}, std::move(sent.header), std::move(sent.payloads), now_);
    Collect();
    if (!worker.welcomed) return;  // a BYE came
  }
  core_.OnMessage({Side::kWorker, worker.link}, wire::Ping{++worker.pings}, {}, now_);
  Collect();
}

void World::End(Worker& worker, std::uint64_t lease, unsigned how) {
  const Held held = worker.held.at(lease);
  worker.held.erase(lease);
  wire::Final final;
  final.lease = LeaseId(lease);
  final.attempt = held.attempt;
  final.ok = how % 2 == 0;
  final.started = true;
  if (!final.ok) final.code = how % 3 == 0 ? Code::kLost : how % 5 == 0 ? Code::kOverloaded : Code::kRuntime;
  if (final.code == Code::kOverloaded) final.started = false;
  Tell(worker, final, {Payload(held.payload + std::string(how, 'f'))});
}

void World::Lie(Worker& worker, unsigned how) {
  if (!worker.welcomed) return;
  wire::Final final;
  // Never a believable final of a lease that it holds: that would be a true one.
  final.lease = LeaseId(how % 2 == 0 ? 1'000'000 + how : 1 + how % 200);
  final.attempt = how % 2 == 0 ? 1 : 77;
  final.ok = true;
  final.code = Code::kRuntime;
  std::vector<Payload> payloads(how % 3 == 2 ? 2 : 1, Payload(std::string("a lie")));
  core_.OnMessage({Side::kWorker, worker.link}, final, std::move(payloads), now_);
  Collect();
}

void World::Take(Worker& worker, const Send& send) {
  if (const auto* welcome = std::get_if<wire::Welcome>(&send.header)) return OnWelcome(worker, *welcome);
  if (std::holds_alternative<wire::Refuse>(send.header)) {
    refused_links_.insert(send.peer);
    return StartWorker(worker);
  }
  if (std::holds_alternative<wire::Bye>(send.header)) {
    worker.link = NewLink("w");
    return HelloFrom(worker);
  }
  if (const auto* pong = std::get_if<wire::Pong>(&send.header)) {
    while (!worker.unconfirmed.empty() && worker.unconfirmed.front().ping <= pong->number)
      worker.unconfirmed.pop_front();
  }
  if (const auto* dispatch = std::get_if<wire::Dispatch>(&send.header)) {
    const std::string payload = dispatch->session.str() + "|" + dispatch->job.id.str() + "|";
    const Held held{dispatch->attempt, 0, payload, dispatch->job.memory_mb};
    Demand(worker.held.emplace(dispatch->lease.value(), held).second, "no lease is given twice");
    const std::uint64_t used =
        std::accumulate(worker.held.begin(), worker.held.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const auto& entry) { return sum + entry.second.memory_mb; });
    Demand(worker.held.size() <= worker.slots, "no more leases than slots");
    Demand(used <= worker.memory_mb, "no more memory than the worker has");
  }
  if (const auto* cancel = std::get_if<wire::Cancel>(&send.header)) {
    const auto found = worker.held.find(cancel->lease.value());
    if (found == worker.held.end()) return;
    wire::Final final;
    final.lease = cancel->lease;
    final.attempt = found->second.attempt;
    final.code = Code::kCancelled;
    worker.held.erase(found);
    Tell(worker, final, {Payload(std::string("cancelled"))});
  }
}

void World::Collect() {
  // What the core did not know when it put a message out, it cannot be blamed for.
  const std::set<Peer> silent = silent_links_;
  for (auto sends = core_.TakeSends(); !sends.empty(); sends = core_.TakeSends()) {
    for (Send& send : sends) {
      Demand(!silent.contains(send.peer), "nothing is sent to a peer that is known to be dead");
      Demand(!refused_links_.contains(send.peer), "nothing is sent to a peer that was refused");
      if (dead_links_.contains(send.peer)) {
        silent_links_.insert(send.peer);
        core_.OnUndeliverable(std::move(send), now_);
      } else {
        Route(std::move(send));
      }
    }
  }
  // Once all is out: what a worker says to it is another event.
  for (Worker& worker : workers_) {
    while (!worker.inbox.empty()) {
      const Send send = std::move(worker.inbox.front());
      worker.inbox.pop_front();
      Take(worker, send);
    }
  }
}

void World::Route(Send send) {
  if (send.peer.side == Side::kClient) {
    for (Client& client : clients_) {
      if (client.link == send.peer.routing) return client.inbox.push_back(std::move(send));
    }
  } else {
    for (Worker& worker : workers_) {
      if (worker.link == send.peer.routing) return worker.inbox.push_back(std::move(send));
    }
  }
}

void World::Check() const {
  const BrokerCounters& counters = core_.counters();
  const std::uint64_t finished =
      std::accumulate(counters.finished_error.begin(), counters.finished_error.end(), counters.finished_ok);
  Demand(counters.submitted == finished + core_.queued() + core_.running(),
         "submitted = finished + queued + running: " + std::to_string(counters.submitted) + " = " +
             std::to_string(finished) + " + " + std::to_string(core_.queued()) + " + " +
             std::to_string(core_.running()));
  // What is kept may pass its bound by what was running or on its way when the bound was reached.
  const std::uint64_t slack = kPeers * (3 + 12) * 2'048;
  Demand(core_.held_bytes() <= config_.max_held_bytes.count() + slack,
         "bytes held: " + std::to_string(core_.held_bytes()));
  for (const Client& client : clients_) {
    for (const auto& [id, finals] : client.finals) Demand(finals == 1, "one final for " + id);
  }
}

void World::Settle() {
  for (Client& client : clients_) client.acknowledges = true;
  for (int round = 0; round < 60; ++round) {
    for (Worker& worker : workers_) {
      if (!worker.welcomed) HelloFrom(worker);
      if (round == 0) PlayWorker(worker, {Act::kBreakWorker, 0, 0});  // gives its full credit
      while (!worker.held.empty()) End(worker, worker.held.begin()->first, 0);
      Deliver(worker);
    }
    for (Client& client : clients_) {
      if (!client.linked && client.inbox.empty()) HelloFrom(client);
      Read(client);
    }
    Pass(Millis(1'000), true);
    Check();
  }
  Demand(core_.queued() == 0, "the queue is empty at the end");
  Demand(core_.running() == 0, "nothing runs at the end");
  Demand(core_.held_bytes() == 0, "nothing is kept at the end: " + std::to_string(core_.held_bytes()));
  for (const Client& client : clients_) {
    Demand(client.unfinished.empty(), "every job has its final");
    Demand(client.finals.size() == client.submitted.size(), "every job has one final");
  }
}

}  // namespace skerry::broker::testing
