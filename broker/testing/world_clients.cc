// The clients of a World.
#include <iterator>
#include <utility>
#include <variant>

#include "broker/testing/world.h"
#include "common/hash.h"

namespace skerry::broker::testing {
namespace {

/// Few programs, so that some of them crash often, and their code is known.
std::string CodeOf(const JobSpec& spec) {
  return std::string(NameOf(spec.retry));
}

}  // namespace

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
  hello.capabilities = {"programs"};
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
  spec.tenant = TenantId("t" + std::to_string(step.what % 2));
  spec.retry = static_cast<Retry>(step.what % 3);
  spec.admission = static_cast<Admission>(step.what % 7 == 0);
  spec.limits = {{"timeoutMs", 1'000}, {"memoryMb", 64 + 64 * (step.what % 5)}};
  if (step.what % 4 == 0) spec.deadline_ms = 1 + step.what;
  // Two thirds of them for one tenant's programs, which need not come with their code.
  spec.program = step.what % 3 != 0;
  spec.code_hash = Sha256(CodeOf(spec));
  if (step.what % 5 == 0) spec.libraries = {"a"};
  if (step.what % 11 == 0) spec.libraries = {"b", "a"};
  client.submitted.insert(spec.id.str());
  client.unfinished.emplace(spec.id.str(), spec);
  SayJob(client, spec, SendCode::kIfNew);
}

void World::SayJob(Client& client, const JobSpec& spec, SendCode code) {
  const bool known = client.sent_code.contains(spec.tenant.str() + CodeOf(spec));
  const bool left_out = spec.program && known && code == SendCode::kIfNew;
  if (client.linked && spec.program) client.sent_code.insert(spec.tenant.str() + CodeOf(spec));
  Say(client, wire::Submit{spec}, {left_out ? Payload() : Payload(CodeOf(spec)), Payload(std::string("1"))});
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
    client.sent_code.clear();
    for (const auto& [id, spec] : std::map(client.unfinished)) SayJob(client, spec, SendCode::kIfNew);
    return;
  }
  if (!client.linked) return;
  if (const auto* ping = std::get_if<wire::Ping>(&send.header)) return Say(client, wire::Pong{ping->number});
  if (std::holds_alternative<wire::Bye>(send.header)) return HelloFrom(client);
  if (const auto* need = std::get_if<wire::Need>(&send.header)) {
    const auto job = client.unfinished.find(need->id.str());
    if (job == client.unfinished.end()) return;
    Demand(job->second.program, "only the code of programs is asked for");
    const JobSpec spec = job->second;
    return SayJob(client, spec, SendCode::kAlways);
  }
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

}  // namespace skerry::broker::testing
