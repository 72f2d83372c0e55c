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
    "forgets the code that it has",
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
  config.max_program_bytes = Bytes(2 * (CodeStore::kBytesPerEntry + 2 + 32 + 8));
  config.client_window = Bytes::KiB(4);
  config.max_backlog_bytes = Bytes::KiB(8);
  config.max_held_bytes = Bytes::KiB(24);
  config.cut_off_time = Millis(5'000);
  config.crashes = {2, 5, Millis(20'000), Millis(3'000)};
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

void World::Demand(bool holds, const std::string& promise) {
  if (!holds) throw std::runtime_error(promise);
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
      if (round == 0) {
        worker.libraries = {"a", "b"};
        PlayWorker(worker, {Act::kBreakWorker, 0, 0});  // gives its full credit
      }
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
