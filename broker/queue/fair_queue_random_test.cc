// Whatever comes to a FairQueue in whatever order: slots are filled, counts hold, and shares are what they
// are, of slots at each moment and of their time in the long run.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "broker/queue/fair_queue.h"
#include "broker/testing/fair_bench.h"

namespace skerry::broker {
namespace {

using Bench = testing::FairBench;

constexpr int kTenants = 8;
constexpr std::uint64_t kSlots = 6;
constexpr std::uint64_t kMostUs = 50'000;

enum class Estimates : std::uint8_t { kRight, kWrong };

std::string NameOfTenant(int tenant) {
  return std::string(1, static_cast<char>('a' + tenant));
}
Share ShareOfTenant(const TenantId& id) {
  const auto tenant = static_cast<std::uint64_t>(id.str()[0] - 'a');
  return {.weight = 1 + tenant % 4, .max_running = tenant == 5 ? 2u : 1'000u};
}

/// Plays events of chance, keeps books of its own, and says what must hold.
class Play {
 public:
  Play(unsigned seed, Estimates estimates) : random_(seed), estimates_(estimates), bench_(&ShareOfTenant) {}

  void Step() {
    Pass();
    switch (random_() % 11) {
      case 0:
        return Hold();
      case 1:
        return Cancel();
      default:
        // Some have much to do, some little.
        return Submit(static_cast<int>(random_() % 2 == 0 ? random_() % 3 : random_() % kTenants));
    }
  }
  void Fill() {
    while (running_.size() < kSlots) {
      const std::uint64_t cost = 1'000 + random_() % (kMostUs - 1'000);
      Job* job = bench_.Run(estimates_ == Estimates::kRight ? cost : 1 + random_() % kMostUs);
      if (job == nullptr) break;
      const int tenant = TenantOf(job);
      Tenant& books = tenants_[tenant];
      ASSERT_TRUE(IsUnderItsShare(tenant)) << "another that waits holds less than its share";
      ASSERT_FALSE(held_[SessionOf(job)]) << "a held session's job does not run";
      ASSERT_LT(books.running, ShareOfTenant(job->account->tenant).max_running);
      --books.queued[SessionOf(job)];
      ++books.running;
      books.served +=
          static_cast<double>(cost) / static_cast<double>(ShareOfTenant(job->account->tenant).weight);
      std::erase(waiting_, job);
      running_.push_back({job, cost, now_ + std::chrono::microseconds(cost)});
      CheckShares();
    }
  }
  void Check() {
    ASSERT_LE(running_.size(), kSlots);
    for (int tenant = 0; tenant < kTenants; ++tenant) {
      const Tenant& books = tenants_[tenant];
      const TenantId id(NameOfTenant(tenant));
      std::uint64_t queued = 0;
      for (const auto& [session, count] : books.queued) queued += count;
      ASSERT_EQ(bench_.queue.QueuedOf(id), queued);
      ASSERT_EQ(bench_.queue.RunningOf(id), books.running);
      if (running_.size() < kSlots) {
        ASSERT_FALSE(MayRun(tenant)) << "a slot is free and " << id.str() << " has something to run";
      }
    }
    CheckShares();
  }
  void Drain() {
    for (int session = 0; session < 4; ++session) {
      held_[session] = false;
      bench_.queue.Release(bench_.sessions[session]);
    }
    while (!waiting_.empty()) {
      Fill();
      ASSERT_FALSE(running_.empty()) << "whoever waits comes to run";
      Pass();
    }
  }

 private:
  struct Tenant {
    std::map<int, std::uint64_t> queued;  // by session
    std::uint64_t running = 0;
    double served = 0;  // by weight
  };
  struct Running {
    Job* job;
    std::uint64_t cost_us;
    TimePoint ends;
  };
  static int TenantOf(const Job* job) { return job->account->tenant.str()[0] - 'a'; }
  int SessionOf(const Job* job) {
    for (int session = 0; session < 4; ++session) {
      if (&bench_.sessions[session] == job->session) return session;
    }
    return -1;
  }
  bool MayRun(int tenant) {
    const Tenant& books = tenants_[tenant];
    if (books.running >= ShareOfTenant(TenantId(NameOfTenant(tenant))).max_running) return false;
    for (const auto& [session, count] : books.queued) {
      if (count > 0 && !held_[session]) return true;
    }
    return false;
  }
  /// Of the slots of those that wait, and one.
  bool IsUnderItsShare(int tenant) {
    std::uint64_t slots = 1, weights = 0;
    for (int other = 0; other < kTenants; ++other) {
      if (!MayRun(other)) continue;
      slots += tenants_[other].running;
      weights += ShareOfTenant(TenantId(NameOfTenant(other))).weight;
    }
    return tenants_[tenant].running * weights < ShareOfTenant(TenantId(NameOfTenant(tenant))).weight * slots;
  }
  /// No two that both have something to run all the while are further apart than a job of each.
  void CheckShares() {
    if (estimates_ == Estimates::kWrong) return;
    for (int a = 0; a < kTenants; ++a) {
      for (int b = 0; b < a; ++b) {
        const auto pair = std::pair(a, b);
        if (!MayRun(a) || !MayRun(b)) {
          since_.erase(pair);
          continue;
        }
        const double apart = tenants_[a].served - tenants_[b].served;
        const double before = since_.try_emplace(pair, apart).first->second;
        const double most =
            kMostUs / static_cast<double>(1 + a % 4) + kMostUs / static_cast<double>(1 + b % 4);
        // Twice: they may have been so far apart the other way when both began to wait.
        ASSERT_LE(std::abs(apart - before), 2 * most + 1) << NameOfTenant(a) << NameOfTenant(b);
      }
    }
  }
  void Submit(int tenant) {
    Bench::Ask ask;
    ask.tenant = NameOfTenant(tenant);
    ask.user = std::to_string(random_() % 3);
    ask.priority = static_cast<int>(random_() % 3) - 1;
    ask.session = static_cast<int>(random_() % 4);
    ask.since = now_;
    ++tenants_[tenant].queued[ask.session];
    waiting_.push_back(bench_.Submit(ask));
  }
  /// A millisecond, and what ends in it.
  void Pass() {
    now_ += Millis(1);
    for (auto at = running_.begin(); at != running_.end();) at = at->ends <= now_ ? End(at) : at + 1;
  }
  std::vector<Running>::iterator End(std::vector<Running>::iterator at) {
    --tenants_[TenantOf(at->job)].running;
    bench_.End(at->job, at->cost_us);
    return running_.erase(at);
  }
  void Cancel() {
    if (waiting_.empty()) return;
    Job* job = waiting_[random_() % waiting_.size()];
    std::erase(waiting_, job);
    --tenants_[TenantOf(job)].queued[SessionOf(job)];
    bench_.End(job);
  }
  void Hold() {
    const int session = static_cast<int>(random_() % 4);
    bool has_lines = false;
    for (const Job* job : waiting_) has_lines = has_lines || SessionOf(job) == session;
    if (!has_lines) {  // a session that has nothing here cannot be held
      held_[session] = false;
      return;
    }
    held_[session] = !held_[session];
    if (held_[session]) {
      bench_.queue.Hold(bench_.sessions[session]);
    } else {
      bench_.queue.Release(bench_.sessions[session]);
    }
  }

 public:
  /// A session that has no line left is not held any more.
  void ForgetHeld() {
    for (auto& [session, held] : held_) {
      bool has_lines = false;
      for (const Job* job : waiting_) has_lines = has_lines || SessionOf(job) == session;
      held = held && has_lines;
    }
  }

 private:
  std::mt19937 random_;
  const Estimates estimates_;
  TimePoint now_;
  Bench bench_;
  std::map<int, Tenant> tenants_;
  std::map<int, bool> held_;
  std::map<std::pair<int, int>, double> since_;
  std::vector<Job*> waiting_;
  std::vector<Running> running_;
};

TEST(FairQueue, WhateverHappensSlotsAreFilledCountsHoldAndNoTenantIsPastItsShareWhileAnotherWaits) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Play play(seed, seed % 2 == 0 ? Estimates::kWrong : Estimates::kRight);
    for (int event = 0; event < 10'000; ++event) {
      play.Step();
      play.ForgetHeld();
      play.Fill();
      play.ForgetHeld();
      play.Check();
      if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", event " << event;
    }
    play.Drain();
  }
}

}  // namespace
}  // namespace skerry::broker
