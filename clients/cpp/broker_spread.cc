#include "clients/cpp/broker_spread.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "clients/cpp/ended.h"
#include "common/hash.h"

namespace skerry::client {
namespace {

constexpr std::size_t kSessionChars = 32;

}  // namespace

BrokerSpread::BrokerSpread(const ClientOptions& options, SessionId session, Places places, TimePoint now)
    : options_(options), session_(std::move(session)), kind_(places), unlinked_since_(now), now_(now) {}

// Two places may be two ways to one broker, which must not take them for one session that moves about.
SessionId BrokerSpread::SessionAt(const BrokerAddress& address) const {
  if (kind_ == Places::kOne) return session_;
  return SessionId(
      Hex(Sha256(session_.str() + "\n" + address.endpoint + "\n" + address.key)).substr(0, kSessionChars));
}

std::unique_ptr<ClientCore> BrokerSpread::NewCore(const BrokerAddress& address, TimePoint now) const {
  ClientOptions options = options_;
  options.broker = address.endpoint;
  const auto standing =
      kind_ == Places::kMany ? ClientCore::Standing::kOneOfSeveral : ClientCore::Standing::kOnly;
  return std::make_unique<ClientCore>(options, SessionAt(address), now, standing);
}

void BrokerSpread::Add(const BrokerAddress& address, TimePoint now) {
  Member member;
  member.address = address;
  member.core = NewCore(address, now);
  members_.emplace(++last_number_, std::move(member));
}

void BrokerSpread::Update(const BrokerDirectory::Change& change, const std::vector<std::string>& faults,
                          TimePoint now) {
  for (const BrokerAddress& address : change.removed) {
    for (auto& [number, member] : members_) {
      if (member.address == address) member.leaving = true;
    }
  }
  for (const BrokerAddress& address : change.added) {
    const auto back = std::find_if(members_.begin(), members_.end(),
                                   [&](const auto& entry) { return entry.second.address == address; });
    if (back == members_.end()) {
      Add(address, now);
    } else {
      back->second.leaving = false;  // under one session nobody is twice
    }
  }
  if (faults.empty()) return;
  faults_.clear();
  for (const std::string& fault : faults) faults_ += "; " + fault;
}

void BrokerSpread::CannotConnect(Number number, Error why, TimePoint now) {
  const auto member = members_.find(number);
  if (member == members_.end()) return;
  member->second.core->OnMessage(wire::Refuse{why.message}, {}, now);
}

void BrokerSpread::OnMessage(Number from, wire::Header header, std::vector<std::string> payloads,
                             TimePoint now) {
  const auto member = members_.find(from);
  if (member == members_.end()) return;
  member->second.core->OnMessage(std::move(header), std::move(payloads), now);
  if (kind_ == Places::kMany) MoveRefused(member->second, now);
}

bool BrokerSpread::Answers(const Member& member, TimePoint now) const {
  return member.core->link() == LinkState::kLinked &&
         now - member.core->last_heard() < options_.failover_after;
}

bool BrokerSpread::AnotherAnswers(const Member& than, TimePoint now) const {
  return std::any_of(members_.begin(), members_.end(), [&](const auto& entry) {
    return &entry.second != &than && !entry.second.leaving && Answers(entry.second, now);
  });
}

LinkState BrokerSpread::link() const {
  if (kind_ == Places::kOne && !members_.empty()) return members_.begin()->second.core->link();
  if (failed_) return LinkState::kFailed;
  const bool any = std::any_of(members_.begin(), members_.end(), [](const auto& entry) {
    return entry.second.core->link() == LinkState::kLinked;
  });
  return any ? LinkState::kLinked : LinkState::kConnecting;
}

bool BrokerSpread::Settled() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& entry) { return entry.second.core->link() != LinkState::kConnecting; });
}

std::uint64_t BrokerSpread::places() const {
  std::uint64_t places = 0;
  for (const auto& [number, member] : members_) {
    if (member.core->link() == LinkState::kLinked && !member.leaving) places += member.core->places();
  }
  return places == 0 ? options_.max_in_flight : std::min(places, options_.max_in_flight);
}

double BrokerSpread::LoadOf(const Member& member) {
  return static_cast<double>(member.core->unfinished()) /
         static_cast<double>(std::max<std::uint64_t>(member.core->places(), 1));
}

bool BrokerSpread::MayTake(const Member& member, const JobId& id, TimePoint now) const {
  return !member.leaving && !member.ask_again && member.core->link() != LinkState::kFailed &&
         member.core->unfinished() < member.core->places() && !member.core->Remembers(id, now);
}

std::pair<const BrokerSpread::Number, BrokerSpread::Member>* BrokerSpread::FirstHeldBy(const JobId& id,
                                                                                       TimePoint now) {
  for (auto& entry : members_) {
    if (entry.second.core->HasFinalOf(id) && MayTake(entry.second, id, now)) return &entry;
  }
  if (!options_.placed_before) return nullptr;
  const std::string endpoint = options_.placed_before(id);
  if (endpoint.empty()) return nullptr;
  for (auto& entry : members_) {
    if (entry.second.address.endpoint == endpoint && MayTake(entry.second, id, now)) return &entry;
  }
  return nullptr;
}

/// Whether this job is better with another. Of a turn's jobs each broker counts those that it has itself:
/// they stay with one that is only busy.
bool BrokerSpread::Refuses(const Member& member, const JobSpec& spec, TimePoint now) const {
  return spec.turn.empty() ? member.core->Refuses(now)
                           : member.core->RefusesFor(options_.failover_after, now);
}

/// Those that answer and do not refuse; where there is none those that answer; until one does, all.
std::vector<std::pair<const BrokerSpread::Number, BrokerSpread::Member>*> BrokerSpread::ToAsk(
    const JobSpec& spec, TimePoint now) {
  std::vector<std::pair<const Number, Member>*> willing;
  std::vector<std::pair<const Number, Member>*> answering;
  std::vector<std::pair<const Number, Member>*> able;
  for (auto& entry : members_) {
    if (entry.second.leaving || entry.second.ask_again) continue;
    if (MayTake(entry.second, spec.id, now)) able.push_back(&entry);
    if (!Answers(entry.second, now)) continue;
    answering.push_back(&entry);
    if (!Refuses(entry.second, spec, now)) willing.push_back(&entry);
  }
  return !willing.empty() ? willing : !answering.empty() ? answering : able;
}

std::pair<const BrokerSpread::Number, BrokerSpread::Member>* BrokerSpread::Choose(const JobSpec& spec,
                                                                                  const std::string& affinity,
                                                                                  TimePoint now) {
  const auto asked = ToAsk(spec, now);
  std::vector<std::pair<const Number, Member>*> able;
  std::copy_if(asked.begin(), asked.end(), std::back_inserter(able),
               [&](const auto* entry) { return MayTake(entry->second, spec.id, now); });
  if (able.empty()) return nullptr;
  // Highest random weight: all clients agree, and a broker that goes moves only what it had.
  const auto home_of = [](const auto& among, const std::string& key) {
    return *std::max_element(among.begin(), among.end(), [&](const auto* a, const auto* b) {
      const std::hash<std::string> hash;
      return hash(key + a->second.address.endpoint) < hash(key + b->second.address.endpoint);
    });
  };
  if (!spec.turn.empty()) {
    auto* home = home_of(asked, spec.tenant.str() + "\n" + spec.turn.str());
    return MayTake(home->second, spec.id, now) ? home : nullptr;
  }
  // Equally loaded ones take turns.
  std::rotate(able.begin(), able.begin() + static_cast<std::ptrdiff_t>(turn_++ % able.size()), able.end());
  auto* emptiest = *std::min_element(able.begin(), able.end(), [](const auto* a, const auto* b) {
    return LoadOf(a->second) < LoadOf(b->second);
  });
  if (affinity.empty() || able.size() == 1) return emptiest;
  auto* home = home_of(able, affinity);
  return LoadOf(home->second) <= LoadOf(emptiest->second) + kLoyalty ? home : emptiest;
}

Result<SubmitResult> BrokerSpread::Submit(JobRequest& request, TimePoint now) {
  now_ = now;
  if (kind_ == Places::kOne && !members_.empty()) {
    const JobId id = request.spec.id;
    auto taken = members_.begin()->second.core->Submit(request, now);
    if (taken && *taken == SubmitResult::kTaken) where_[id] = members_.begin()->first;
    return taken;
  }
  if (failed_) return Fail(failure_);
  const JobId id = request.spec.id;
  if (where_.contains(id)) return Fail(ErrorKind::kInvalid, "job '" + id.str() + "' is unfinished already");
  MoveRefused(now);  // they came before it
  std::uint64_t bytes = 0;
  for (const auto& [number, member] : members_) bytes += member.core->bytes_in_flight();
  if (where_.size() >= places() || !homeless_.empty() ||
      (!where_.empty() && bytes >= options_.max_in_flight_bytes.count())) {
    return SubmitResult::kFull;
  }
  auto* member = FirstHeldBy(id, now);
  if (member == nullptr) {
    const bool keeps = request.spec.program || request.program;
    const std::string affinity = !keeps ? "" : request.program ? request.program->hash() : request.code;
    member = Choose(request.spec, affinity, now);
  }
  if (member == nullptr) return SubmitResult::kFull;
  auto taken = member->second.core->Submit(request, now);
  if (taken && *taken == SubmitResult::kTaken) {
    where_[id] = member->first;
    placements_.push_back({id, member->second.address.endpoint});
  }
  return taken;
}

void BrokerSpread::Cancel(const JobId& id) {
  const auto at = where_.find(id);
  if (at == where_.end()) return;
  if (at->second != kHomeless) return members_.at(at->second).core->Cancel(id);
  CancelHomeless(id);
}

std::vector<ClientEvent> BrokerSpread::TakeEvents() {
  std::vector<ClientEvent> events = std::exchange(events_, {});
  for (auto& [number, member] : members_) {
    for (ClientEvent& event : member.core->TakeEvents()) {
      if (const auto* final = std::get_if<JobFinal>(&event)) where_.erase(final->id);
      // One of several is no end; see FailIfNoneIsLeft.
      if (std::holds_alternative<LinkFailed>(event) && kind_ == Places::kMany) continue;
      events.push_back(std::move(event));
    }
  }
  return events;
}

std::vector<HostCall> BrokerSpread::TakeCalls() {
  std::vector<HostCall> calls;
  for (auto& [number, member] : members_) {
    for (HostCall& call : member.core->TakeCalls()) {
      call.broker = number;
      calls.push_back(std::move(call));
    }
  }
  return calls;
}

void BrokerSpread::Reply(const HostCall& call, HostReply reply, TimePoint now) {
  const auto member = members_.find(call.broker);
  if (member != members_.end()) member->second.core->Reply(call, std::move(reply), now);
}

bool BrokerSpread::Awaits(const HostCall& call) const {
  const auto member = members_.find(call.broker);
  return member != members_.end() && member->second.core->Awaits(call);
}

void BrokerSpread::Acknowledge(const JobId& id) {
  for (auto& [number, member] : members_) member.core->Acknowledge(id);
}

std::size_t BrokerSpread::acks_waiting() const {
  std::size_t acks = 0;
  for (const auto& [number, member] : members_) acks += member.core->acks_waiting();
  return acks;
}

void BrokerSpread::NotListening(TimePoint now) {
  for (auto& [number, member] : members_) member.core->NotListening(now);
}

LinkHealth BrokerSpread::Health(TimePoint now) const {
  LinkHealth best{false, Millis(0), false};
  bool all_late = true;
  bool all_stopped = true;
  for (const auto& [number, member] : members_) {
    const LinkHealth health = member.core->Health(now);
    best.answers = best.answers || health.answers;
    best.gives_up_in = std::max(best.gives_up_in, health.gives_up_in);
    all_late = all_late && health.late;
    all_stopped = all_stopped && health.stopped;
  }
  best.late = !members_.empty() && all_late;
  best.stopped = !members_.empty() && all_stopped;
  return best;
}

TimePoint BrokerSpread::NextWake() const {
  TimePoint wake = kind_ == Places::kMany && !failed_ ? now_ + kTick : TimePoint::max();
  for (const auto& [number, member] : members_) wake = std::min(wake, member.core->NextWake());
  return wake;
}

SpreadCounts BrokerSpread::counts() const {
  SpreadCounts counts = counts_;
  for (const auto& [number, member] : members_) counts.late_finals += member.core->late_finals();
  return counts;
}

}  // namespace skerry::client
