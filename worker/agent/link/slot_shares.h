// Divides a worker's slots and memory over the brokers that it is connected to, so that what they may use at
// once is never more than it has.
//
//   shares.Join(broker, now);                                 // its WELCOME came
//   for (const auto& offer : shares.Rebalance(now)) {         // each tick, and when something has changed
//     send CREDIT offer.share; if (offer.mark) send PING, and when its PONG comes shares.OnConfirmed(broker,
//     mark)
//   }
//   shares.OnDispatch(broker, job); ... shares.OnEnd(broker, job);
//
// Who has more to run than its share gets what others leave unused; what all want is shared equally. Brokers
// that are more than there is room for take turns: a turn is short where nothing comes of it. A share that is
// taken back is free once the broker has read that (its PONG came: whatever it had sent before is here) or
// its connection is gone, and never while its leases still run.
//
//   held = the most of: what it was told last, what it was told before and may not know to be over, what it
//   runs. The sum of all held, and of the orphans (given up, not reaped yet), never passes the total.
//
// Threads: plain data, an injected clock. Errors: none. A broker that passes its share is refused by
// LeaseLedger.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "common/units.h"

namespace skerry::agent {

struct Share {
  std::uint64_t slots = 0;
  std::uint64_t memory_mb = 0;
  bool operator==(const Share&) const = default;
};

class SlotShares {
 public:
  using Broker = std::uint64_t;

  /// How often Rebalance is due while there are several brokers.
  static constexpr Millis kTick{50};
  /// Of a broker that has jobs, while another waits for its turn.
  static constexpr Millis kTurn{250};
  /// Of one that sends none; it sits out kDoze then, unless nobody else wants the place.
  static constexpr Millis kProbe{100};
  static constexpr Millis kDoze{700};
  /// For the PONG that says that a share is given back; then the connection is to be opened anew.
  static constexpr Millis kPatience{2'000};
  /// A job of the default memoryMb: a share with less left is used up.
  static constexpr std::uint64_t kUsualJobMb = 256;

  struct Offer {
    Broker broker = 0;
    Share share;
    std::uint64_t mark = 0;  ///< takes something back: to be confirmed; 0: nothing to confirm
  };

  /// `least_mb`: no share that lets anything run has less memory, so that every job finds room in any.
  SlotShares(Share total, std::uint64_t least_mb) : total_(total), healthy_(total), least_mb_(least_mb) {}

  /// Whether forks can be hoped for: while not, there is nothing to share.
  enum class Health : bool { kSick, kSound };
  void SetHealth(Health health) {
    total_ = health == Health::kSound ? healthy_ : Share{0, healthy_.memory_mb};
  }

  /// What a HELLO that goes out now promises.
  void Promise(Broker broker, Share share) { brokers_[broker].told = share; }
  /// Its WELCOME came.
  void Join(Broker broker);
  /// Its connection is gone, and with it all that it was told; what it runs goes on.
  void Leave(Broker broker);
  /// It is to get no more jobs.
  void Retire(Broker broker) { brokers_[broker].retired = true; }
  /// Forget it. What it still runs is an orphan's.
  void Remove(Broker broker);

  void OnDispatch(Broker broker, Share job);
  void OnEnd(Broker broker, Share job);
  /// The broker counts this job no more, and it is not reaped yet. OnOrphanEnd follows in place of OnEnd.
  void OnAbandon(Broker broker, Share job);
  void OnOrphanEnd(Share job);

  std::vector<Offer> Rebalance(TimePoint now);
  void OnConfirmed(Broker broker, std::uint64_t mark);
  /// Brokers that have not said for too long that they know what was taken back.
  std::vector<Broker> Overdue(TimePoint now) const;

  /// What may be promised.
  Share Free() const;
  const Share& total() const { return total_; }
  Share TellOf(Broker broker) const;
  Share Held(Broker broker) const;
  /// Whether Rebalance has to be called each tick.
  bool NeedsTicks() const;

 private:
  struct Unconfirmed {
    std::uint64_t mark = 0;
    Share share;  // before it was taken back
    TimePoint since;
  };
  struct State {
    bool joined = false;
    bool retired = false;
    Share told;
    std::deque<Unconfirmed> unconfirmed;
    Share in_use;
    Share peak;         // of in_use in this tick
    Share peak_before;  // and in the one before
    // While brokers take turns.
    bool seated = false;
    bool began = false;  // its turn: it has been told a share
    bool used = false;   // in this turn
    TimePoint turn_began;
    TimePoint dozes_until;
    std::uint64_t last_turn = 0;
  };
  using Seats = std::vector<Broker>;

  static Share Held(const State& state);
  static Share Peak(const State& state);
  bool Hungry(const State& state) const;
  Seats Active() const;
  /// How many can have a share that is of any use at once.
  std::size_t Room() const;
  Seats SeatsOf(const Seats& active, TimePoint now);
  void EndTurns(const Seats& active, bool others_wait, TimePoint now);
  /// By broker; who has none gets nothing.
  std::map<Broker, Share> Targets(const Seats& seats) const;
  std::map<Broker, std::uint64_t> SlotsFor(const Seats& seats) const;

  Share total_;
  const Share healthy_;
  const std::uint64_t least_mb_;
  std::map<Broker, State> brokers_;
  Share orphans_;
  std::size_t joined_ = 0;
  TimePoint tick_began_;
  std::uint64_t marks_ = 0;
  std::uint64_t turns_ = 0;
};

}  // namespace skerry::agent
