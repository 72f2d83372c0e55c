// What happens to jobs whose broker is lost, leaves, or refuses.
#include <algorithm>
#include <utility>

#include "clients/cpp/broker_spread.h"
#include "clients/cpp/ended.h"

namespace skerry::client {

void BrokerSpread::OnTick(TimePoint now) {
  now_ = now;
  for (auto& [number, member] : members_) member.core->OnTick(now);
  ever_linked_ = ever_linked_ || link() == LinkState::kLinked;
  if (kind_ == Places::kOne || failed_) return;
  std::vector<Number> numbers;
  for (const auto& [number, member] : members_) numbers.push_back(number);
  for (const Number number : numbers) TendMember(number, members_.at(number), now);
  FailIfNoneIsLeft(now);
  PlaceHomeless(now);
  MoveRefused(now);
}

void BrokerSpread::TendMember(Number number, Member& member, TimePoint now) {
  if (member.core->link() == LinkState::kFailed) {
    if (!member.ask_again) OnGivenUp(member, now);
    if (!member.leaving && *member.ask_again > now) return;
    // Under another number: its socket, and all that was on its way, is another.
    const BrokerAddress address = member.address;
    const bool leaving = member.leaving;
    Forget(number);
    if (!leaving) Add(address, now);
    return;
  }
  const bool silent = now - member.core->last_heard() >= options_.failover_after;
  if (silent && member.core->unfinished() > 0 && AnotherAnswers(member, now)) {
    MakeHomeless(member, ClientCore::Scope::kMayRunAgain);
    member.core->GiveLinkUp(now);
  }
  if (!member.leaving) return;
  MakeHomeless(member, ClientCore::Scope::kNotSent);
  if (!member.core->Idle()) return;
  Forget(number);
}

/// What it has said and counted stays.
void BrokerSpread::Forget(Number number) {
  for (ClientEvent& event : TakeEvents()) events_.push_back(std::move(event));
  const auto member = members_.find(number);
  counts_.late_finals += member->second.core->late_finals();
  members_.erase(member);
}

void BrokerSpread::MakeHomeless(Member& member, ClientCore::Scope scope) {
  for (Job& job : member.core->Withdraw(scope)) {
    where_[job.spec.id] = kHomeless;
    homeless_.push_back(std::move(job));
    ++counts_.moved;
  }
}

void BrokerSpread::CancelHomeless(const JobId& id) {
  const auto found =
      std::find_if(homeless_.begin(), homeless_.end(), [&](const Job& job) { return job.spec.id == id; });
  Job job = std::move(*found);
  homeless_.erase(found);
  for (auto& [number, member] : members_) {
    if (member.core->link() == LinkState::kFailed || !member.core->Remembers(id, now_)) continue;
    where_[id] = number;
    return member.core->TakeBackCancelled(std::move(job));
  }
  where_.erase(id);
  const bool sent = job.sent_before > 0;
  Outcome end =
      Ended(Code::kCancelled, sent ? "cancelled; it may have run" : "cancelled before it was sent", 1);
  end.error->started = sent;  // nobody may rely on that it did not
  events_.push_back(JobFinal{id, std::move(end)});
}

void BrokerSpread::OnGivenUp(Member& member, TimePoint now) {
  member.ask_again = now + kAskAgain;
  MakeHomeless(member, ClientCore::Scope::kMayRunAgain);
  member.core->LoseJobs("its broker was lost and could not be found again; it may have run");
}

void BrokerSpread::PlaceHomeless(TimePoint now) {
  std::deque<Job> left;
  while (!homeless_.empty()) {
    Job job = std::move(homeless_.front());
    homeless_.pop_front();
    auto* member = Choose(job.spec, job.shares_code ? job.spec.code_hash : "", now);
    if (member == nullptr) {
      left.push_back(std::move(job));
      continue;
    }
    Place(std::move(job), *member, now);
  }
  homeless_ = std::move(left);
}

void BrokerSpread::Place(Job job, std::pair<const Number, Member>& at, TimePoint now) {
  where_[job.spec.id] = at.first;
  placements_.push_back({job.spec.id, at.second.address.endpoint});
  at.second.core->Adopt(std::move(job), now);
}

void BrokerSpread::MoveRefused(TimePoint now) {
  for (auto& [number, member] : members_) MoveRefused(member, now);
}

/// What it has no room for goes where there is some; where all have refused it waits where it is.
void BrokerSpread::MoveRefused(Member& member, TimePoint now) {
  if (!member.core->Refuses(now)) return;
  const bool room = std::any_of(members_.begin(), members_.end(), [&](const auto& entry) {
    const ClientCore& core = *entry.second.core;
    return Answers(entry.second, now) && !core.Refuses(now) && core.unfinished() < core.places();
  });
  if (!room) return;
  for (const JobId& id : member.core->Refused()) {
    const Job& job = member.core->JobOf(id);
    auto* other = Choose(job.spec, job.shares_code ? job.spec.code_hash : "", now);
    if (other == nullptr && job.spec.turn.empty()) return;
    if (other == nullptr || other->second.core->Refuses(now)) continue;
    Place(member.core->TakeRefused(id, now), *other, now);
    ++counts_.refused;
  }
}

/// All have refused or been given up, and nothing else is known.
void BrokerSpread::FailIfNoneIsLeft(TimePoint now) {
  const bool any = std::any_of(members_.begin(), members_.end(),
                               [](const auto& entry) { return !entry.second.ask_again; });
  if (link() == LinkState::kLinked) unlinked_since_ = now;
  const Millis patience = ever_linked_ ? options_.reconnect_timeout : options_.connect_timeout;
  // Those that are asked again and again may never all have refused at one moment.
  const Millis alone_for = std::chrono::duration_cast<Millis>(now - unlinked_since_);
  if (any && alone_for < patience + options_.connect_timeout) return;
  if (members_.empty() && alone_for < patience) return;
  std::string why;
  for (const auto& [number, member] : members_) {
    const bool said = member.core->link() == LinkState::kFailed;
    why += (why.empty() ? "" : "; ") +
           (said ? member.core->failure().message : "no answer at " + member.address.endpoint);
  }
  if (why.empty()) why = "no broker is known" + faults_;
  failed_ = true;
  failure_ = {ErrorKind::kUnavailable, std::move(why)};
  events_.push_back(LinkFailed{failure_});
}

}  // namespace skerry::client
