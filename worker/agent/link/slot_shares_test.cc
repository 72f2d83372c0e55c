#include "worker/agent/link/slot_shares.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <optional>

namespace skerry::agent {
namespace {

using Broker = SlotShares::Broker;

constexpr Share kJob{1, 256};

/// Shares whose offers all brokers read at once, unless a test says otherwise.
class Shares : public ::testing::Test {
 protected:
  explicit Shares(Share total = {8, 8192}, std::uint64_t least_mb = 1024) : shares_(total, least_mb) {}

  void Tick(int times = 1) {
    for (int i = 0; i < times; ++i) {
      now_ += SlotShares::kTick;
      for (const auto& offer : shares_.Rebalance(now_)) {
        if (offer.mark != 0) shares_.OnConfirmed(offer.broker, offer.mark);
      }
    }
  }
  /// It runs as many as it may, for a while.
  void Busy(Broker broker, int ticks) {
    for (int i = 0; i < ticks; ++i) {
      const std::uint64_t may = Told(broker);
      for (std::uint64_t job = 0; job < may; ++job) shares_.OnDispatch(broker, kJob);
      for (std::uint64_t job = 0; job < may; ++job) shares_.OnEnd(broker, kJob);
      Tick();
    }
  }
  std::uint64_t Told(Broker broker) const { return shares_.TellOf(broker).slots; }

  TimePoint now_ = TimePoint() + Millis(1'000'000);
  SlotShares shares_;
};

TEST_F(Shares, ALoneBrokerGetsEverything) {
  shares_.Join(1);
  Tick();
  EXPECT_EQ(shares_.TellOf(1), (Share{8, 8192}));
  EXPECT_FALSE(shares_.NeedsTicks());
}

TEST_F(Shares, IdleBrokersShareEquallyAndEachCanRunTheLargestJob) {
  for (const Broker broker : {1, 2, 3}) shares_.Join(broker);
  Tick();
  EXPECT_EQ(Told(1) + Told(2) + Told(3), 8u);
  for (const Broker broker : {1, 2, 3}) {
    EXPECT_GE(Told(broker), 2u);
    EXPECT_GE(shares_.TellOf(broker).memory_mb, 1024u);
  }
}

TEST_F(Shares, WhatOneLeavesUnusedGoesToTheBusyOneAndComesBackWhenItIsWanted) {
  shares_.Join(1);
  shares_.Join(2);
  Tick();
  EXPECT_EQ(Told(1), 4u);
  Busy(1, 3);
  EXPECT_EQ(Told(1), 7u);
  EXPECT_EQ(Told(2), 1u);
  Tick(100);
  EXPECT_EQ(Told(1), 7u);  // nobody wants it
  Busy(2, 3);
  EXPECT_EQ(Told(2), 7u);
  EXPECT_EQ(Told(1), 1u);
}

TEST_F(Shares, TwoThatWantEverythingGetHalfEach) {
  shares_.Join(1);
  shares_.Join(2);
  Tick();
  Busy(1, 5);
  for (int i = 0; i < 10; ++i) {
    for (const Broker broker : {1, 2}) {
      for (std::uint64_t job = Told(broker); job > 0; --job) shares_.OnDispatch(broker, kJob);
      for (std::uint64_t job = Told(broker); job > 0; --job) shares_.OnEnd(broker, kJob);
    }
    Tick();
  }
  EXPECT_EQ(Told(1), 4u);
  EXPECT_EQ(Told(2), 4u);
}

TEST_F(Shares, WhatIsTakenBackIsFreeOnlyOnceItsBrokerHasReadThat) {
  shares_.Promise(1, {8, 8192});
  shares_.Join(1);
  shares_.Join(2);
  now_ += SlotShares::kTick;
  const auto offers = shares_.Rebalance(now_);
  ASSERT_EQ(offers.size(), 1u);
  EXPECT_EQ(offers[0].broker, 1u);
  EXPECT_EQ(offers[0].share.slots, 4u);
  EXPECT_EQ(Told(2), 0u);
  EXPECT_EQ(shares_.Free(), Share());
  for (int job = 0; job < 6; ++job) shares_.OnDispatch(1, kJob);  // it had not read it yet
  EXPECT_EQ(shares_.Free().slots, 0u);
  shares_.OnConfirmed(1, offers[0].mark);
  EXPECT_EQ(shares_.Free().slots, 2u);  // six run still
  for (int job = 0; job < 2; ++job) shares_.OnEnd(1, kJob);
  EXPECT_EQ(shares_.Free().slots, 4u);
}

TEST_F(Shares, AConnectionThatIsGoneFreesAllButWhatRuns) {
  shares_.Join(1);
  shares_.Join(2);
  Tick();
  shares_.OnDispatch(1, kJob);
  shares_.Leave(1);
  Tick();
  EXPECT_EQ(Told(2), 7u);
  shares_.OnAbandon(1, kJob);
  Tick();
  EXPECT_EQ(Told(2), 7u);
  shares_.OnOrphanEnd(kJob);
  Tick();
  EXPECT_EQ(Told(2), 8u);
}

TEST_F(Shares, ABrokerThatDoesNotSayThatItKnowsIsOverdueAfterTwoSeconds) {
  shares_.Promise(1, {8, 8192});
  shares_.Join(1);
  shares_.Join(2);
  shares_.Rebalance(now_);
  EXPECT_TRUE(shares_.Overdue(now_ + SlotShares::kPatience - Millis(1)).empty());
  EXPECT_EQ(shares_.Overdue(now_ + SlotShares::kPatience), std::vector<Broker>{1});
  shares_.Leave(1);
  EXPECT_TRUE(shares_.Overdue(now_ + SlotShares::kPatience).empty());
}

TEST_F(Shares, ASickWorkerPromisesNothing) {
  shares_.Join(1);
  Tick();
  shares_.SetHealth(SlotShares::Health::kSick);
  Tick();
  EXPECT_EQ(Told(1), 0u);
  shares_.SetHealth(SlotShares::Health::kSound);
  Tick();
  EXPECT_EQ(Told(1), 8u);
}

TEST_F(Shares, ARetiredBrokerGetsNoMoreAndTheRestGoesToTheOthers) {
  shares_.Join(1);
  shares_.Join(2);
  Tick();
  shares_.OnDispatch(1, kJob);
  shares_.Retire(1);
  Tick(2);
  EXPECT_EQ(Told(1), 0u);
  EXPECT_EQ(Told(2), 7u);
}

class FewSlots : public Shares {
 protected:
  FewSlots() : Shares({1, 2048}, 1024) {}
};

TEST_F(FewSlots, BrokersTakeTurnsAndAnIdleOneIsPassedOverSoon) {
  shares_.Join(1);
  shares_.Join(2);
  int busy = 0;
  constexpr int kTicks = 400;  // 20 s
  for (int i = 0; i < kTicks; ++i) {
    EXPECT_LE(Told(1) + Told(2), 1u);
    if (Told(1) > 0) {
      ++busy;
      shares_.OnDispatch(1, kJob);
      shares_.OnEnd(1, kJob);
    }
    Tick();
  }
  EXPECT_GT(busy, kTicks * 7 / 10);
}

TEST_F(FewSlots, TwoBusyOnesGetAboutHalfOfTheTimeEach) {
  shares_.Join(1);
  shares_.Join(2);
  std::array<int, 3> turns{};
  for (int i = 0; i < 400; ++i) {
    for (const Broker broker : {1, 2}) {
      if (Told(broker) == 0) continue;
      ++turns[broker];
      shares_.OnDispatch(broker, kJob);
      shares_.OnEnd(broker, kJob);
    }
    Tick();
  }
  EXPECT_GT(turns[1], 150);
  EXPECT_GT(turns[2], 150);
}

class LittleMemory : public Shares {
 protected:
  LittleMemory() : Shares({8, 1500}, 1024) {}
};

TEST_F(LittleMemory, WhereTheLargestJobFitsOnceBrokersTakeTurnsWithAllOfIt) {
  shares_.Join(1);
  shares_.Join(2);
  Tick();
  EXPECT_EQ(Told(1) + Told(2), 8u);
  EXPECT_TRUE(shares_.TellOf(1).memory_mb == 1500 || shares_.TellOf(2).memory_mb == 1500);
}

// Brokers that use all that they believe they have, links that take their time and break, and jobs that end
// at any moment.
class Model {
 public:
  Model(Share total, std::uint64_t least_mb, std::size_t brokers)
      : total_(total), least_mb_(least_mb), shares_(total, least_mb), brokers_(brokers) {}

  void Step(int action, std::size_t at, std::uint64_t memory_mb) {
    Side& side = brokers_[at % brokers_.size()];
    switch (action) {
      case 0:
        return Join(at % brokers_.size());
      case 1:
        return Cut(at % brokers_.size());
      case 2:
      case 3:
        return Dispatch(side, memory_mb);
      case 4:
      case 5:
        return ReadAtWorker(at % brokers_.size());
      case 6:
      case 7:
        return ReadAtBroker(side);
      case 8:
        return EndOne(at % brokers_.size());
      case 9:
        return Forget(at % brokers_.size());
      case 10:
        return EndOrphan();
      default:
        now_ += SlotShares::kTick;
        return Rebalance();
    }
  }
  /// Whatever brokers believe, all of them together cannot have more than there is.
  bool Holds() const {
    Share sum{0, 0};
    for (const Share& orphan : orphans_) sum.slots += orphan.slots, sum.memory_mb += orphan.memory_mb;
    for (const Side& side : brokers_) {
      Share most = side.joined ? side.credit : Share();
      Share used;
      const std::vector<Share>& leases = side.joined ? side.leases : side.running;
      for (const Share& job : leases) used.slots += job.slots, used.memory_mb += job.memory_mb;
      // Those whose FINAL is on its way run no more.
      for (const Message& message : side.to_broker) {
        if (message.ended) used.slots -= message.ended->slots, used.memory_mb -= message.ended->memory_mb;
      }
      sum.slots += std::max(most.slots, used.slots);
      sum.memory_mb += std::max(most.memory_mb, used.memory_mb);
    }
    return sum.slots <= total_.slots && sum.memory_mb <= total_.memory_mb;
  }
  /// Everything arrives, one broker has endless work, nobody else has any: it has all but one slot of each
  /// other.
  bool ServesTheBusyOne(std::size_t busy) {
    for (std::size_t at = 0; at < brokers_.size(); ++at) {
      while (!brokers_[at].running.empty()) EndOne(at);
      Join(at);
    }
    while (!orphans_.empty()) EndOrphan();
    std::uint64_t most = 0;
    for (int tick = 0; tick < 20; ++tick) {
      most = std::max(most, brokers_[busy].credit.slots);
      for (std::size_t at = 0; at < brokers_.size(); ++at) {
        while (!brokers_[at].to_broker.empty()) ReadAtBroker(brokers_[at]);
        while (!brokers_[at].to_worker.empty()) ReadAtWorker(at);
        while (at != busy && !brokers_[at].running.empty()) EndOne(at);
      }
      while (Dispatch(brokers_[busy], 1), !brokers_[busy].to_worker.empty()) ReadAtWorker(busy);
      while (!brokers_[busy].running.empty()) EndOne(busy);
      now_ += SlotShares::kTick;
      Rebalance();
    }
    const std::uint64_t room =
        std::max<std::uint64_t>(1, std::min(total_.slots, total_.memory_mb / least_mb_));
    const std::uint64_t least = total_.slots - std::min<std::uint64_t>(room, brokers_.size()) + 1;
    if (brokers_.size() <= room) return brokers_[busy].credit.slots == least;
    return most >= least;  // they take turns
  }

 private:
  struct Message {
    std::optional<Share> credit;  // else a mark
    std::uint64_t mark = 0;
    std::optional<Share> ended;  // a FINAL
  };
  struct Reply {
    std::optional<Share> job;  // else a mark
    std::uint64_t mark = 0;
  };
  struct Side {
    bool joined = false;
    Share credit;               // as the broker has read it
    std::vector<Share> leases;  // as the broker counts them
    std::deque<Message> to_broker;
    std::deque<Reply> to_worker;
    std::vector<Share> running;  // at the worker
  };

  void Join(std::size_t at) {
    Side& side = brokers_[at];
    if (side.joined) return;
    side.joined = true;
    side.credit = {};
    side.leases = side.running;  // its HELLO names them
    shares_.Join(at);
  }
  void Cut(std::size_t at) {
    Side& side = brokers_[at];
    side.joined = false;
    side.to_broker.clear();
    side.to_worker.clear();
    shares_.Leave(at);
  }
  void Forget(std::size_t at) {
    Side& side = brokers_[at];
    if (side.joined) return;
    for (const Share& job : side.running) {
      orphans_.push_back(job);
      shares_.OnAbandon(at, job);
    }
    side.running.clear();
    side.leases.clear();
  }
  void Dispatch(Side& side, std::uint64_t memory_mb) {
    Share used;
    for (const Share& job : side.leases) used.slots += 1, used.memory_mb += job.memory_mb;
    if (!side.joined || used.slots >= side.credit.slots || used.memory_mb + memory_mb > side.credit.memory_mb)
      return;
    side.leases.push_back({1, memory_mb});
    side.to_worker.push_back({Share{1, memory_mb}, 0});
  }
  void ReadAtWorker(std::size_t at) {
    Side& side = brokers_[at];
    if (side.to_worker.empty()) return;
    const Reply reply = side.to_worker.front();
    side.to_worker.pop_front();
    if (!reply.job) return shares_.OnConfirmed(at, reply.mark);
    side.running.push_back(*reply.job);
    shares_.OnDispatch(at, *reply.job);
  }
  void ReadAtBroker(Side& side) {
    if (side.to_broker.empty()) return;
    const Message message = side.to_broker.front();
    side.to_broker.pop_front();
    if (message.credit) {
      side.credit = *message.credit;
    } else if (message.ended) {
      side.leases.erase(std::find(side.leases.begin(), side.leases.end(), *message.ended));
    } else {
      side.to_worker.push_back({std::nullopt, message.mark});
    }
  }
  void EndOne(std::size_t at) {
    Side& side = brokers_[at];
    if (side.running.empty()) return;
    const Share job = side.running.back();
    side.running.pop_back();
    shares_.OnEnd(at, job);
    if (side.joined) side.to_broker.push_back({std::nullopt, 0, job});
  }
  void EndOrphan() {
    if (orphans_.empty()) return;
    shares_.OnOrphanEnd(orphans_.back());
    orphans_.pop_back();
  }
  void Rebalance() {
    for (const auto& offer : shares_.Rebalance(now_)) {
      brokers_[offer.broker].to_broker.push_back({offer.share, 0, std::nullopt});
      if (offer.mark != 0)
        brokers_[offer.broker].to_broker.push_back({std::nullopt, offer.mark, std::nullopt});
    }
  }

  const Share total_;
  const std::uint64_t least_mb_;
  SlotShares shares_;
  std::vector<Side> brokers_;
  std::vector<Share> orphans_;
  TimePoint now_ = TimePoint() + Millis(1'000'000);
};

TEST(SlotSharesProperty, NoHistoryPromisesASlotOrAMebibyteTwice) {
  const bool held = rc::check("the sum of all promises is never more than there is", [] {
    const auto slots = *rc::gen::inRange<std::uint64_t>(1, 12);
    const auto memory_mb = *rc::gen::inRange<std::uint64_t>(64, 4096);
    const auto least_mb = *rc::gen::inRange<std::uint64_t>(1, memory_mb + 1);
    const auto count = *rc::gen::inRange<std::size_t>(1, 6);
    Model model({slots, memory_mb}, least_mb, count);
    for (std::size_t at = 0; at < count; ++at) model.Step(0, at, 0);
    const auto steps = *rc::gen::container<std::vector<std::tuple<int, std::size_t, std::uint64_t>>>(
        400, rc::gen::tuple(rc::gen::inRange(0, 14), rc::gen::inRange<std::size_t>(0, 6),
                            rc::gen::inRange<std::uint64_t>(1, 600)));
    for (const auto& [action, at, job_mb] : steps) {
      model.Step(action, at, job_mb);
      RC_ASSERT(model.Holds());
    }
    const auto busy = *rc::gen::inRange<std::size_t>(0, count);
    RC_ASSERT(model.ServesTheBusyOne(busy));
    RC_ASSERT(model.Holds());
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace skerry::agent
