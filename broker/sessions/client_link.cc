#include "broker/sessions/client_link.h"

#include <utility>

namespace skerry::broker {
namespace {

/// The next of a sequence that looks random (SplitMix64, Steele et al. 2014). Its start is the shell's random
/// number, so that a client cannot say that it has read what it has not.
std::uint64_t NextMark(std::uint64_t& state) {
  for (;;) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    if (z != 0) return z;  // 0 marks nothing
  }
}

}  // namespace

void ClientLink::Inform(Session& session, const wire::Accepted& accepted) {
  if (!session.quiet && session.state == SessionState::kLinked && session.pipe.waiting_bytes() == 0)
    outbox_.Put(session.link, accepted);
}

Delivery ClientLink::Send(Session& session, wire::Header header, std::vector<Payload> payloads) {
  if (session.state == SessionState::kClosed) return Delivery::kDropped;
  const bool waits = session.state == SessionState::kAway || session.pipe.waiting_bytes() > 0;
  if (waits && flow_.IsFull(session, ClientPipe::BytesOf(payloads))) return Delivery::kDropped;
  session.pipe.Push(std::move(header), std::move(payloads));
  Pump(session);
  flow_.Note(session);
  return Delivery::kTaken;
}

void ClientLink::SendFinal(Session& session, const Job& job) {
  if (session.state != SessionState::kLinked || session.pipe.HasFinal(job.end->number)) return;
  session.pipe.Push(job.end->final, job.end->payloads, job.end->number);
  Pump(session);
}

Delivery ClientLink::SendRefusal(Session& session, wire::Final final, Payload payload) {
  if (session.state != SessionState::kLinked) return Delivery::kTaken;  // it will submit again
  // All that a client within its credit may have unfinished can be refused at once: a bound below that would
  // put it away, have it submit again, and so on for ever.
  if (session.pipe.waiting_bytes() > config_.max_backlog_bytes.count() &&
      session.pipe.waiting() >= 2 * config_.client_credit) {
    return Delivery::kDropped;
  }
  session.pipe.Push(std::move(final), {std::move(payload)});
  Pump(session);
  flow_.Note(session);
  return Delivery::kTaken;
}

void ClientLink::Relink(Session& session, std::uint64_t seen) {
  session.pipe.Relink(seen);
  Pump(session);
  flow_.Note(session);
}

void ClientLink::Resume(Session& session) {
  session.pipe.MarkAnew();
  Ping(session);
  Pump(session);
}

void ClientLink::OnPong(Session& session, std::uint64_t mark) {
  if (mark == 0) return;
  session.pipe.Confirm(mark);
  Pump(session);
  flow_.Note(session);
}

void ClientLink::Ping(Session& session) {
  if (session.state != SessionState::kLinked) return;
  const std::uint64_t mark = session.pipe.HasUnmarked() ? NextMark(mark_seed_) : 0;
  if (mark != 0) session.pipe.Mark(mark);
  outbox_.Put(session.link, wire::Ping{mark});
}

void ClientLink::Forget(Session& session) {
  session.pipe.Clear();
  flow_.Note(session);
}

void ClientLink::Pump(Session& session) {
  if (session.state != SessionState::kLinked) return;
  while (auto message = session.pipe.TakeNext(config_.client_window)) {
    outbox_.Put(session.link, std::move(message->header), std::move(message->payloads));
    if (session.pipe.WantsMark(config_.client_window)) Ping(session);
  }
}

}  // namespace skerry::broker
