#include "worker/agent/isolates/isolate_keeper.h"

#include <algorithm>
#include <iterator>

#include "common/logging.h"
#include "common/wire/codec.h"

namespace skerry::agent {
namespace {

// A CREDIT is a few dozen bytes.
constexpr std::size_t kCreditBudget = 1024;

/// Nothing, the beginning of a message, the one message that it may send here, its end, or anything else.
enum class Heard : std::uint8_t { kNothing, kPart, kReady, kEnd, kWrong };

Heard Listen(IsolatePort& port) {
  const auto end = port.Read(kCreditBudget);
  if (end == IsolatePort::ReadEnd::kEof) return Heard::kEnd;
  if (end == IsolatePort::ReadEnd::kBudget) return Heard::kWrong;
  const auto frame = port.Next();
  if (!frame) return Heard::kWrong;
  if (!*frame) return port.AllTaken() ? Heard::kNothing : Heard::kPart;
  const auto header = wire::Decode((*frame)->header);
  const bool credit = header && std::holds_alternative<wire::Credit>(*header) && (*frame)->payloads.empty();
  return credit && port.AllTaken() ? Heard::kReady : Heard::kWrong;
}

bool HasTidiedUp(const Isolate& isolate) {
  const auto memory = ReadMemory(isolate.pid());
  const MemoryReading& first = isolate.past().first;
  return memory && memory->resident - first.resident <= IsolateKeeper::kMaxLeftovers &&
         memory->data - first.data <= IsolateKeeper::kMaxLeftovers;
}

}  // namespace

std::optional<std::string> ReuseKey(const JobPlan& plan) {
  const JobSpec& job = plan.dispatch.job;
  if (job.reuse != Reuse::kContext || job.program || !job.libraries.empty()) return std::nullopt;
  return std::to_string(plan.limits.memory_mb()) + (job.wasm ? " wasm " : " ") + job.tenant.str();
}

IsolateKeeper::Ticket& IsolateKeeper::Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    Leave();
    place_ = std::move(other.place_);
  }
  return *this;
}

void IsolateKeeper::Ticket::Leave() {
  if (place_) *place_ = nullptr;
  place_.reset();
}

IsolateKeeper::IsolateKeeper(EventLoop& loop, WorkerStats& stats, std::size_t max_kept,
                             std::function<void(const ExitStatus&)> on_idle_death)
    : loop_(loop), stats_(stats), max_kept_(max_kept), on_idle_death_(std::move(on_idle_death)) {}

void IsolateKeeper::Keep(Isolate isolate, IsolatePort port, std::string key) {
  const auto kept = kept_.emplace(kept_.end(), std::move(isolate), std::move(port), std::move(key));
  kept->socket_watch = loop_.OnReadable(kept->isolate.socket(), [this, kept] { OnReadable(kept); });
  kept->exit_watch = loop_.OnReadable(kept->isolate.pidfd(), [this, kept] { OnExit(kept); });
  kept->timer = loop_.After(kPrepareTime, [this, kept] { Discard(kept, IsolateExit::kFinished); });
  LimitTo(max_kept_);
  if (!kept_.empty()) OnReadable(std::prev(kept_.end()));  // it may have said so by now
}

void IsolateKeeper::OnReadable(All::iterator kept) {
  const Heard heard = Listen(kept->port);
  if (heard == Heard::kNothing || (heard == Heard::kPart && !kept->ready)) return;
  if (heard == Heard::kEnd) return AwaitEnd(kept);
  // Anything else, or anything more, is no isolate of ours speaking any longer.
  if (heard == Heard::kWrong || kept->ready) return Discard(kept, IsolateExit::kKilledProtocol);
  if (!HasTidiedUp(kept->isolate)) return Discard(kept, IsolateExit::kFinished);
  BecomeReady(kept);
}

// How a process ended says more than that its socket did, and follows it.
void IsolateKeeper::AwaitEnd(All::iterator kept) {
  kept->ready = false;
  kept->socket_watch.Reset();
  kept->timer = loop_.After(kPrepareTime, [this, kept] { Discard(kept, IsolateExit::kKilledProtocol); });
}

void IsolateKeeper::BecomeReady(All::iterator kept) {
  kept->ready = true;
  if (!kept->IsAwaited()) {
    kept->timer = loop_.After(kIdleTime, [this, kept] { Discard(kept, IsolateExit::kFinished); });
    return;
  }
  const Ready ready = std::exchange(*kept->awaited, nullptr);
  ready(Release(kept));
}

void IsolateKeeper::OnExit(All::iterator kept) {
  const auto status = kept->isolate.TryReap();
  if (!status) return;
  on_idle_death_(*status);
  log::Warn("an isolate died between two jobs", {{"signal", status->signal}, {"status", status->code}});
  const std::shared_ptr<Ready> awaited = kept->awaited;
  kept_.erase(kept);
  if (awaited && *awaited) std::exchange(*awaited, nullptr)(std::nullopt);
}

std::optional<Isolate> IsolateKeeper::Take(const std::string& key) {
  for (auto kept = kept_.end(); kept != kept_.begin();) {
    --kept;
    if (!kept->ready || kept->key != key) continue;
    // It may have spoken or died with the news still in the loop's queue.
    const Heard heard = Listen(kept->port);
    if (heard == Heard::kNothing) return Release(kept);
    const auto unfit = kept++;
    heard == Heard::kEnd ? AwaitEnd(unfit) : Discard(unfit, IsolateExit::kKilledProtocol);
  }
  return std::nullopt;
}

IsolateKeeper::Ticket IsolateKeeper::Await(const std::string& key, Ready ready) {
  for (Kept& kept : kept_) {
    if (kept.ready || kept.IsAwaited() || kept.key != key) continue;
    kept.awaited = std::make_shared<Ready>(std::move(ready));
    return Ticket(kept.awaited);
  }
  return {};
}

void IsolateKeeper::FitInto(std::uint64_t memory_mb) {
  LimitTo(std::min<std::uint64_t>(max_kept_, memory_mb / kKeptMb));
}

void IsolateKeeper::LimitTo(std::size_t count) {
  while (kept_.size() > count) Discard(kept_.begin(), IsolateExit::kFinished);
}

void IsolateKeeper::Drop(CellNumber cell) {
  for (auto kept = kept_.begin(); kept != kept_.end();) {
    const auto next = std::next(kept);
    if (kept->isolate.cell() == cell) Discard(kept, IsolateExit::kDiscarded);
    kept = next;
  }
}

void IsolateKeeper::Stop() {
  max_kept_ = 0;
  LimitTo(0);
}

Isolate IsolateKeeper::Release(All::iterator kept) {
  kept->socket_watch.Reset();
  kept->exit_watch.Reset();
  Isolate isolate = std::move(kept->isolate);
  kept_.erase(kept);
  return isolate;
}

void IsolateKeeper::Discard(All::iterator kept, IsolateExit as) {
  stats_.Count(as);
  const std::shared_ptr<Ready> awaited = kept->awaited;
  Release(kept);  // whose end kills and reaps it
  // Later: who is told may ask for isolates, and this may be in the middle of them.
  if (awaited && *awaited) {
    loop_.Post([awaited] {
      if (*awaited) std::exchange(*awaited, nullptr)(std::nullopt);
    });
  }
}

}  // namespace skerry::agent
