#include "worker/agent/link/slot_shares.h"

#include <algorithm>
#include <utility>

namespace skerry::agent {
namespace {

Share Most(const Share& a, const Share& b) {
  return {std::max(a.slots, b.slots), std::max(a.memory_mb, b.memory_mb)};
}
void Add(Share& to, const Share& share) {
  to.slots += share.slots;
  to.memory_mb += share.memory_mb;
}
void Subtract(Share& from, const Share& share) {
  from.slots -= std::min(from.slots, share.slots);
  from.memory_mb -= std::min(from.memory_mb, share.memory_mb);
}

}  // namespace

void SlotShares::Join(Broker broker) {
  State& state = brokers_[broker];
  if (!std::exchange(state.joined, true)) ++joined_;
  state.seated = state.began = false;
  state.dozes_until = TimePoint();
}

void SlotShares::Leave(Broker broker) {
  const auto found = brokers_.find(broker);
  if (found == brokers_.end()) return;
  State& state = found->second;
  if (std::exchange(state.joined, false)) --joined_;
  state.told = {};
  state.unconfirmed.clear();
  state.seated = false;
}

void SlotShares::Remove(Broker broker) {
  Leave(broker);
  Add(orphans_, brokers_[broker].in_use);
  brokers_.erase(broker);
}

void SlotShares::OnDispatch(Broker broker, Share job) {
  State& state = brokers_[broker];
  Add(state.in_use, job);
  state.peak = Most(state.peak, state.in_use);
  state.used = true;
}

void SlotShares::OnEnd(Broker broker, Share job) {
  Subtract(brokers_[broker].in_use, job);
}

void SlotShares::OnAbandon(Broker broker, Share job) {
  OnEnd(broker, job);
  Add(orphans_, job);
}

void SlotShares::OnOrphanEnd(Share job) {
  Subtract(orphans_, job);
}

Share SlotShares::Held(const State& state) {
  Share held = Most(state.told, state.in_use);
  for (const Unconfirmed& before : state.unconfirmed) held = Most(held, before.share);
  return held;
}

Share SlotShares::Held(Broker broker) const {
  const auto found = brokers_.find(broker);
  return found == brokers_.end() ? Share() : Held(found->second);
}

Share SlotShares::TellOf(Broker broker) const {
  const auto found = brokers_.find(broker);
  return found == brokers_.end() ? Share() : found->second.told;
}

Share SlotShares::Free() const {
  Share free = total_;
  Subtract(free, orphans_);
  for (const auto& [broker, state] : brokers_) Subtract(free, Held(state));
  return free;
}

Share SlotShares::Peak(const State& state) {
  return Most(state.peak, state.peak_before);
}

bool SlotShares::Hungry(const State& state) const {
  const Share peak = Peak(state);
  return state.told.slots > 0 && peak.slots > 0 &&
         (peak.slots >= state.told.slots ||
          peak.memory_mb + std::min(kUsualJobMb, least_mb_) > state.told.memory_mb);
}

SlotShares::Seats SlotShares::Active() const {
  Seats active;
  for (const auto& [broker, state] : brokers_) {
    if (state.joined && !state.retired && total_.slots > 0) active.push_back(broker);
  }
  return active;
}

std::size_t SlotShares::Room() const {
  const std::uint64_t by_memory = least_mb_ > 0 ? total_.memory_mb / least_mb_ : total_.slots;
  return std::max<std::size_t>(1, std::min(total_.slots, by_memory));
}

void SlotShares::EndTurns(const Seats& active, bool others_wait, TimePoint now) {
  for (const Broker broker : active) {
    State& state = brokers_[broker];
    if (!state.seated || !state.began || !others_wait) continue;
    const auto lasted = now - state.turn_began;
    const bool idle = !state.used && state.in_use.slots == 0;
    if (lasted < (idle ? kProbe : kTurn)) continue;
    state.seated = false;
    state.last_turn = ++turns_;
    if (idle) state.dozes_until = now + kDoze;
  }
}

SlotShares::Seats SlotShares::SeatsOf(const Seats& active, TimePoint now) {
  const std::size_t room = Room();
  if (active.size() <= room) {
    for (const Broker broker : active) brokers_[broker].seated = false;
    return active;
  }
  Seats waiting;
  const auto find_waiting = [&](auto condition) {
    waiting.clear();
    for (const Broker broker : active) {
      if (!brokers_[broker].seated && condition(brokers_[broker])) waiting.push_back(broker);
    }
    std::sort(waiting.begin(), waiting.end(),
              [&](Broker a, Broker b) { return brokers_[a].last_turn < brokers_[b].last_turn; });
  };
  const auto awake = [&](const State& state) { return state.dozes_until <= now; };
  find_waiting(awake);
  EndTurns(active, !waiting.empty(), now);
  std::size_t seated = 0;
  for (const Broker broker : active) seated += brokers_[broker].seated ? 1 : 0;
  const auto seat_waiting = [&] {
    for (std::size_t i = 0; i < waiting.size() && seated < room; ++i, ++seated) {
      State& state = brokers_[waiting[i]];
      state.seated = true;
      state.began = state.used = false;
    }
  };
  seat_waiting();  // those who waited before a turn ended
  find_waiting(awake);
  seat_waiting();
  find_waiting([](const State&) { return true; });
  seat_waiting();
  Seats seats;
  for (const Broker broker : active) {
    if (brokers_[broker].seated) seats.push_back(broker);
  }
  return seats;
}

// Max-min: nobody gets more than it has use for while another that wants more has less.
std::map<SlotShares::Broker, std::uint64_t> SlotShares::SlotsFor(const Seats& seats) const {
  bool anybody_hungry = false;
  std::uint64_t told = 0;
  bool all_have = true;
  std::vector<std::pair<std::uint64_t, Broker>> demands;
  for (const Broker broker : seats) {
    const State& state = brokers_.at(broker);
    const bool hungry = Hungry(state);
    anybody_hungry = anybody_hungry || hungry;
    all_have = all_have && state.told.slots > 0;
    told += state.told.slots;
    // One more than it used: a share that is used up exactly would look too small.
    demands.emplace_back(hungry ? total_.slots : std::min(Peak(state).slots + 1, total_.slots), broker);
  }
  std::map<Broker, std::uint64_t> slots;
  if (!anybody_hungry && all_have && told == total_.slots) {
    for (const Broker broker : seats) slots[broker] = brokers_.at(broker).told.slots;
    return slots;  // nobody wants more: nothing is moved about
  }
  std::sort(demands.begin(), demands.end());
  std::uint64_t left = total_.slots;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const std::uint64_t equal = left / (demands.size() - i);
    slots[demands[i].second] = std::min(demands[i].first, equal);
    left -= slots[demands[i].second];
  }
  // Nobody wants it: equally, so that whoever has work first finds something.
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const std::uint64_t more = left / (demands.size() - i);
    slots[demands[i].second] += more;
    left -= more;
  }
  return slots;
}

std::map<SlotShares::Broker, Share> SlotShares::Targets(const Seats& seats) const {
  std::map<Broker, Share> targets;
  if (seats.empty()) return targets;
  // A lone broker may get all: a job that needs more than `least_mb_` says is its to judge.
  const std::uint64_t least = std::min(least_mb_, total_.memory_mb / seats.size());
  const std::uint64_t spare_mb = total_.memory_mb - least * seats.size();
  const std::uint64_t spare_slots = total_.slots - std::min<std::uint64_t>(total_.slots, seats.size());
  for (const auto& [broker, slots] : SlotsFor(seats)) {
    const std::uint64_t more = spare_slots > 0
                                   ? spare_mb * (slots - std::min<std::uint64_t>(slots, 1)) / spare_slots
                                   : spare_mb / seats.size();
    targets[broker] = {slots, least + more};
  }
  return targets;
}

std::vector<SlotShares::Offer> SlotShares::Rebalance(TimePoint now) {
  const Seats active = Active();
  const std::map<Broker, Share> targets = Targets(SeatsOf(active, now));
  std::map<Broker, Share> tell;
  const bool next_tick = now - tick_began_ >= kTick;
  if (next_tick) tick_began_ = now;
  for (auto& [broker, state] : brokers_) {
    if (next_tick) {
      state.peak_before = state.peak;
      state.peak = state.in_use;
    }
    if (!state.joined) continue;
    const auto target = targets.find(broker);
    const Share wanted = target == targets.end() ? Share() : target->second;
    tell[broker] = {std::min(wanted.slots, state.told.slots),
                    std::min(wanted.memory_mb, state.told.memory_mb)};
  }
  Share free = Free();
  std::vector<Offer> offers;
  for (auto& [broker, share] : tell) {
    State& state = brokers_[broker];
    const auto target = targets.find(broker);
    const Share held = Held(state);
    if (target != targets.end()) {
      // What it holds already costs nothing to tell it of.
      const auto up_to = [](std::uint64_t wanted, std::uint64_t held_of, std::uint64_t& left) {
        const std::uint64_t more = wanted > held_of ? std::min(wanted - held_of, left) : 0;
        left -= more;
        return std::min(wanted, held_of + more);
      };
      share = {std::max(share.slots, up_to(target->second.slots, held.slots, free.slots)),
               std::max(share.memory_mb, up_to(target->second.memory_mb, held.memory_mb, free.memory_mb))};
    }
    // Its turn begins with a share, which it may have had before it was one.
    if (share.slots > 0 && !std::exchange(state.began, true)) state.turn_began = now;
    if (share == state.told) continue;
    Offer offer{broker, share, 0};
    if (share.slots < state.told.slots || share.memory_mb < state.told.memory_mb) {
      offer.mark = ++marks_;
      state.unconfirmed.push_back({offer.mark, state.told, now});
    }
    state.told = share;
    offers.push_back(offer);
  }
  return offers;
}

bool SlotShares::NeedsTicks() const {
  if (joined_ > 1) return true;
  // A lone one may wait for what another's jobs, or the orphans, hold still.
  return std::any_of(brokers_.begin(), brokers_.end(), [&](const auto& entry) {
    return entry.second.joined && !entry.second.retired && entry.second.told.slots < total_.slots;
  });
}

void SlotShares::OnConfirmed(Broker broker, std::uint64_t mark) {
  const auto found = brokers_.find(broker);
  if (found == brokers_.end()) return;
  std::deque<Unconfirmed>& unconfirmed = found->second.unconfirmed;
  while (!unconfirmed.empty() && unconfirmed.front().mark <= mark) unconfirmed.pop_front();
}

std::vector<SlotShares::Broker> SlotShares::Overdue(TimePoint now) const {
  std::vector<Broker> overdue;
  for (const auto& [broker, state] : brokers_) {
    if (!state.unconfirmed.empty() && now - state.unconfirmed.front().since >= kPatience)
      overdue.push_back(broker);
  }
  return overdue;
}

}  // namespace skerry::agent
