// The workers of a World, honest and lying.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <variant>

#include "broker/testing/world.h"
#include "common/hash.h"

namespace skerry::broker::testing {

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
    case Act::kForgetCode:
      return worker.code.clear();
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
  const std::vector<std::string> libraries[] = {{}, {"a"}, {"b", "a"}, {"a"}};
  worker.libraries = libraries[next_worker_ % 4];
  HelloFrom(worker);
}

void World::HelloFrom(Worker& worker) {
  worker.welcomed = false;
  wire::Hello hello;
  hello.role = wire::Role::kWorker;
  hello.session = worker.session;
  hello.slots = worker.slots = 3;
  hello.memory_mb = worker.memory_mb = 1024;
  hello.capabilities = {"reproducible", "programs"};
  hello.libraries = worker.libraries;
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
  if (!final.ok) {
    final.code = how % 3 == 0   ? Code::kLost
                 : how % 5 == 0 ? Code::kOverloaded
                 : how % 7 == 0 ? Code::kRuntime
                                : Code::kCrash;
  }
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
  if (const auto* dispatch = std::get_if<wire::Dispatch>(&send.header))
    return TakeDispatch(worker, *dispatch, send.payloads);
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

void World::TakeDispatch(Worker& worker, const wire::Dispatch& dispatch,
                         const std::vector<Payload>& payloads) {
  const JobSpec& job = dispatch.job;
  for (const std::string& library : job.libraries) {
    Demand(std::find(worker.libraries.begin(), worker.libraries.end(), library) != worker.libraries.end(),
           "jobs go only to workers that have their libraries");
  }
  const std::string_view code = payloads.at(0).bytes();
  if (code.empty()) {
    Demand(job.program, "only programs come without their code");
    if (!worker.code.contains(job.code_hash)) return Tell(worker, wire::Need{JobId(), dispatch.lease}, {});
  } else {
    Demand(Sha256(code) == job.code_hash, "a program's code is what its hash says");
    if (job.program) worker.code.insert(job.code_hash);
  }
  const std::string payload = dispatch.session.str() + "|" + job.id.str() + "|";
  const Held held{dispatch.attempt, 0, payload, job.memory_mb};
  Demand(worker.held.emplace(dispatch.lease.value(), held).second, "no lease is given twice");
  const std::uint64_t used =
      std::accumulate(worker.held.begin(), worker.held.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const auto& entry) { return sum + entry.second.memory_mb; });
  Demand(worker.held.size() <= worker.slots, "no more leases than slots");
  Demand(used <= worker.memory_mb, "no more memory than the worker has");
}

}  // namespace skerry::broker::testing
