// Whose turn it is among those that wait: who has been charged least, of those that hold less than their
// share of the slots.
//
// Shares of slots are by weight, of the slots that those who wait hold together and the one that is free.
// One at least always holds less than that. What has been charged tells those apart, so that of slots that
// cannot be split evenly each has his share in the long run; and what is held bounds what can be had by jobs
// that take longer than anybody thought when they were given their slot. (Who holds least by weight being
// next, without regard to what was charged, would give each of more tenants than slots one, whatever its
// weight.)
//
// Threads: its owner's. Memory: an entry for each, one for each ratio of slots to weight among them. Time:
// the logarithm of their number; Next and LeastCharged the number of different ratios.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace skerry::broker {

/// What has been charged, and who that makes next: least first, then who came first.
using FairTag = std::pair<std::uint64_t, std::uint64_t>;

/// `Who` has a `tag`, the slots it has `running`, and a `weight()`, none of which changes while it is in here
/// but by Rekey.
template <class Who>
class FairTurns {
 public:
  bool empty() const { return turns_.empty(); }

  void Insert(Who& who) {
    turns_[HeldBy(who)].emplace(who.tag, &who);
    running_ += who.running;
    weights_ += who.weight();
  }
  void Erase(const Who& who) {
    const auto turns = turns_.find(HeldBy(who));
    turns->second.erase(who.tag);
    if (turns->second.empty()) turns_.erase(turns);
    running_ -= who.running;
    weights_ -= who.weight();
  }
  /// It is about to have these.
  void Rekey(const Who& who, const FairTag& tag, std::uint64_t running) {
    const auto from = turns_.find(HeldBy(who));
    auto entry = from->second.extract(who.tag);  // it keeps its memory
    entry.key() = tag;
    turns_[{running, who.weight()}].insert(std::move(entry));
    if (from->second.empty()) turns_.erase(from);
    running_ += running - who.running;
  }

  /// Null if nobody waits.
  Who* Next() const {
    Who* next = nullptr;
    for (const auto& [held, turns] : turns_) {
      if (held.running * weights_ >= held.weight * (running_ + 1)) break;
      Who* first = turns.begin()->second;
      if (next == nullptr || first->tag < next->tag) next = first;
    }
    return next;
  }
  /// Of those who wait, whatever they hold; nothing less than `most`.
  std::uint64_t LeastCharged(std::uint64_t most) const {
    for (const auto& [held, turns] : turns_) most = std::min(most, turns.begin()->first.first);
    return most;
  }

 private:
  /// Slots by weight.
  struct Held {
    std::uint64_t running = 0;
    std::uint64_t weight = 1;
    bool operator<(const Held& other) const { return running * other.weight < other.running * weight; }
  };
  static Held HeldBy(const Who& who) { return {who.running, who.weight()}; }

  std::map<Held, std::map<FairTag, Who*>> turns_;
  std::uint64_t running_ = 0;  // of all in here
  std::uint64_t weights_ = 0;
};

}  // namespace skerry::broker
