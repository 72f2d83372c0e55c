#include "broker/queue/fair_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "broker/testing/fair_bench.h"

namespace skerry::broker {
namespace {

using Bench = testing::FairBench;

FairQueue::ShareOf Weights(std::map<std::string, std::uint64_t> weights) {
  return [weights = std::move(weights)](const TenantId& tenant) {
    Share share;
    if (const auto found = weights.find(tenant.str()); found != weights.end()) share.weight = found->second;
    return share;
  };
}

TEST(FairQueue, IsFirstInFirstOutForOneTenantUserAndPriorityWhateverTheSession) {
  Bench bench;
  Job* a = bench.Submit({.session = 1});
  Job* b = bench.Submit({.session = 2});
  Job* c = bench.Submit({.session = 1});
  for (Job* expected : {a, b, c}) EXPECT_EQ(bench.Run(), expected);
  EXPECT_EQ(bench.Run(), nullptr);
}

TEST(FairQueue, TenantsTakeTurnsHoweverManyJobsTheyHave) {
  Bench bench;
  for (int i = 0; i < 100; ++i) bench.Submit({.tenant = "greedy"});
  for (int i = 0; i < 3; ++i) bench.Submit({.tenant = "polite"});
  std::string order;
  for (int i = 0; i < 6; ++i) order += bench.RunTenant()[0];
  EXPECT_EQ(order, "gpgpgp");
  EXPECT_EQ(bench.RunTenant(), "greedy") << "and what nobody else wants is its own";
}

TEST(FairQueue, ATenantOfTwiceTheWeightGetsTwiceAsMuch) {
  Bench bench(Weights({{"a", 1}, {"b", 2}}));
  for (int i = 0; i < 300; ++i) {
    bench.Submit({.tenant = "a"});
    bench.Submit({.tenant = "b"});
  }
  std::map<std::string, int> got;
  for (int i = 0; i < 300; ++i) ++got[bench.RunTenant()];
  EXPECT_EQ(got["a"], 100);
  EXPECT_EQ(got["b"], 200);
}

TEST(FairQueue, WhatCountsIsCostAndNotTheNumberOfJobs) {
  Bench bench;
  for (int i = 0; i < 100; ++i) {
    bench.Submit({.tenant = "long"});
    bench.Submit({.tenant = "short"});
  }
  std::map<std::string, int> got;
  for (int i = 0; i < 55; ++i) {
    const bool is_long = bench.queue.Front()->account->tenant == TenantId("long");
    ++got[bench.ServeTenant(is_long ? 10'000 : 1'000)];
  }
  EXPECT_EQ(got["long"], 5);
  EXPECT_EQ(got["short"], 50);
}

/// How many of ten slots one comes to hold whose jobs do not end, beside others whose jobs end at once and
/// cost far more than was thought.
int SlotsOfSleeper(Bench& bench, const Account& sleeper) {
  std::vector<Job*> others;
  int sleeping = 0;
  for (int i = 0; i < 100; ++i) {
    while (others.size() + static_cast<std::size_t>(sleeping) < 10) {
      Job* job = bench.Run(1);
      if (*job->account == sleeper) {
        ++sleeping;
      } else {
        others.push_back(job);
      }
    }
    if (others.empty()) break;
    bench.End(others.back(), 1'000'000);
    others.pop_back();
  }
  return sleeping;
}

TEST(FairQueue, WhoHoldsHisShareOfTheSlotsGetsNoMoreWhileOthersWaitWhateverHisJobsSeemToCost) {
  struct Case {
    std::uint64_t weight, of_other;
    int slots;
  };
  for (const auto& [weight, of_other, slots] : {Case{1, 1, 5}, Case{2, 2, 5}, Case{4, 1, 8}, Case{1, 4, 2},
                                                Case{1, 9, 1}, Case{9, 1, 9}, Case{1, 19, 1}}) {
    Bench bench(Weights({{"sleeper", weight}, {"busy", of_other}}));
    for (int i = 0; i < 200; ++i) {
      bench.Submit({.tenant = "sleeper"});
      bench.Submit({.tenant = "busy"});
    }
    EXPECT_EQ(SlotsOfSleeper(bench, {TenantId("sleeper"), UserId()}), slots)
        << weight << " beside " << of_other;
  }
  Bench bench;
  for (int i = 0; i < 200; ++i) {
    bench.Submit({.user = "sleeper"});
    bench.Submit({.user = "busy"});
  }
  EXPECT_EQ(SlotsOfSleeper(bench, {TenantId("t"), UserId("sleeper")}), 5) << "users of a tenant";
}

TEST(FairQueue, TheShareOfWhoDoesNotWaitIsTheOthers) {
  Bench bench(Weights({{"idle", 100}}));
  bench.Submit({.tenant = "idle"});
  for (int i = 0; i < 200; ++i) {
    bench.Submit({.tenant = "sleeper"});
    bench.Submit({.tenant = "busy"});
  }
  ASSERT_EQ(bench.RunTenant(1), "idle");
  EXPECT_EQ(SlotsOfSleeper(bench, {TenantId("sleeper"), UserId()}), 5);
}

TEST(FairQueue, OfWhatATenantHasHadNoMoreIsHeldAgainstItThanHalfASecondForEachJobThatRuns) {
  Bench bench;
  Job* const long_one = bench.Submit({.tenant = "a"});
  bench.Submit({.tenant = "a"});
  for (int i = 0; i < 1'000; ++i) bench.Submit({.tenant = "b"});
  ASSERT_EQ(bench.Run(1'000), long_one);
  bench.End(long_one, 60'000'000);
  int others = 0;
  for (Job* job = bench.Run(1'000); job->account->tenant == TenantId("b"); job = bench.Run(1'000)) {
    bench.End(job, 1'000);
    ++others;
  }
  EXPECT_NEAR(others, FairQueue::kMostBehindUs / 1'000, 2);
}

TEST(FairQueue, AnEstimateIsPutRightWhenTheJobHasEnded) {
  Bench bench;
  for (int i = 0; i < 20; ++i) {
    bench.Submit({.tenant = "a"});
    bench.Submit({.tenant = "b"});
  }
  Job* a = bench.Run(1'000);
  Job* b = bench.Run(1'000);
  EXPECT_EQ(b->account->tenant.str(), "b");
  bench.End(a, 5'000);  // four more than it was charged
  bench.End(b, 1'000);
  std::string order;
  for (int i = 0; i < 6; ++i) order += bench.ServeTenant(1'000);
  EXPECT_EQ(order, "bbbbab");
  Job* late = bench.Run(10'000);
  ASSERT_EQ(late->account->tenant.str(), "a");
  bench.End(late, 0);  // it never ran: as if it had not been charged
  EXPECT_EQ(bench.RunTenant(), "a");
}

TEST(FairQueue, WhatWasChargedTooMuchIsNoLeadOverThoseWhoComeOnceItIsPutRight) {
  for (const bool users : {false, true}) {
    Bench bench;
    const auto ask = [users](const std::string& who) {
      return users ? Bench::Ask{.user = who} : Bench::Ask{.tenant = who};
    };
    for (int i = 0; i < 100; ++i) bench.Submit(ask("early"));
    std::vector<Job*> running;
    for (int i = 0; i < 10; ++i) running.push_back(bench.Run(10'000));
    for (Job* job : running) bench.End(job, 1'000);
    for (int i = 0; i < 10; ++i) bench.Submit(ask("late"));
    std::string order;
    for (int i = 0; i < 8; ++i) {
      const Job* job = bench.Run();
      order += (users ? job->account->user.str() : job->account->tenant.str())[0];
    }
    EXPECT_EQ(order, "elelelel") << (users ? "users" : "tenants");
  }
}

TEST(FairQueue, NobodyLosesItsDebtByBeingForgottenWhileAnotherIsBehind) {
  Bench bench;
  for (int i = 0; i < 50; ++i) bench.Submit({.tenant = "early"});
  Job* dear = bench.Run(50'000);
  Job* of_other = bench.Submit({.tenant = "other"});
  ASSERT_EQ(bench.Run(20'000), of_other);
  bench.End(of_other, 20'000);  // it has nothing here now, and has had this
  Job* cheap = bench.Run(1'000);
  ASSERT_EQ(cheap->account->tenant.str(), "early");
  bench.End(dear, 0);  // and the first has had next to nothing
  bench.End(cheap, 1'000);
  for (int i = 0; i < 5; ++i) bench.Submit({.tenant = "other"});
  for (int i = 0; i < 19; ++i) EXPECT_EQ(bench.ServeTenant(1'000), "early") << i;
}

TEST(FairQueue, NobodySavesUpByNotAsking) {
  Bench bench;
  for (int i = 0; i < 60; ++i) bench.Submit({.tenant = "busy"});
  for (int i = 0; i < 50; ++i) bench.Serve();
  for (int i = 0; i < 10; ++i) bench.Submit({.tenant = "late"});
  std::string order;
  for (int i = 0; i < 6; ++i) order += bench.ServeTenant()[0];
  EXPECT_EQ(order, "lblblb");
}

TEST(FairQueue, ATenantThatAsksForOneJobAtATimeGetsNoMoreThanItsShare) {
  Bench bench;
  for (int i = 0; i < 100; ++i) bench.Submit({.tenant = "busy"});
  int one_at_a_time = 0;
  bench.Submit({.tenant = "one"});
  for (int i = 0; i < 40; ++i) {
    if (bench.ServeTenant() != "one") continue;
    ++one_at_a_time;
    bench.Submit({.tenant = "one"});
  }
  EXPECT_EQ(one_at_a_time, 20);
}

TEST(FairQueue, ATenantRunsAtMostWhatItMay) {
  Bench bench([](const TenantId& tenant) {
    return Share{.weight = 1, .max_running = tenant.str() == "capped" ? 2u : 1'000u};
  });
  for (int i = 0; i < 9; ++i) {
    bench.Submit({.tenant = "capped"});
    bench.Submit({.tenant = "free"});
  }
  std::vector<Job*> capped;
  for (int i = 0; i < 6; ++i) {
    Job* job = bench.Run();
    if (job->account->tenant.str() == "capped") capped.push_back(job);
  }
  EXPECT_EQ(capped.size(), 2u);
  EXPECT_EQ(bench.queue.RunningOf(TenantId("capped")), 2u);
  EXPECT_EQ(bench.queue.QueuedOf(TenantId("capped")), 7u);
  bench.End(capped[0]);
  EXPECT_EQ(bench.RunTenant(), "capped");
  while (bench.Run() != nullptr) {
  }
  EXPECT_EQ(bench.queue.QueuedOf(TenantId("free")), 0u) << "others' slots are theirs";
}

TEST(FairQueue, SharesThatChangeHoldFromThenOn) {
  std::uint64_t most = 1;
  Bench bench([&](const TenantId&) { return Share{.weight = 1, .max_running = most}; });
  for (int i = 0; i < 3; ++i) bench.Submit({});
  EXPECT_NE(bench.Run(), nullptr);
  EXPECT_EQ(bench.Run(), nullptr);
  most = 2;
  bench.queue.Reshare();
  EXPECT_NE(bench.Run(), nullptr);
  EXPECT_EQ(bench.Run(), nullptr);
}

TEST(FairQueue, HigherPrioritiesOfATenantGoFirstAndLowOnesAge) {
  Bench bench;
  const TimePoint start(Millis(100'000));
  Job* low = bench.Submit({.priority = -3, .since = start});
  Job* normal = bench.Submit({.since = start});
  Job* high = bench.Submit({.priority = 5, .since = start});
  EXPECT_EQ(bench.queue.Front(), high);
  bench.Run();
  EXPECT_EQ(bench.queue.Front(), normal);
  bench.Run();
  Job* just_in_time = bench.Submit({.priority = 0, .since = start + Millis(3'000)});
  EXPECT_EQ(bench.Run(), just_in_time) << "of equals the higher";
  Job* late = bench.Submit({.priority = 0, .since = start + Millis(3'001)});
  EXPECT_EQ(bench.Run(), low) << "it has waited three levels longer than this one";
  EXPECT_EQ(bench.Run(), late);
}

TEST(FairQueue, ALowPriorityWaitsNoLongerThanItsLevelsOfAgeingBesideAnEndlessStream) {
  Bench bench;
  TimePoint now;
  Job* low = bench.Submit({.priority = 0, .since = now});
  for (int second = 0;; ++second, now += Millis(1'000)) {
    ASSERT_LE(second, 11);
    bench.Submit({.priority = 10, .since = now});
    Job* job = bench.Run();
    if (job == low) break;
    bench.End(job);
  }
  EXPECT_EQ(now, TimePoint(Millis(11'000)));
}

TEST(FairQueue, APriorityIsItsTenantsOwnAffair) {
  Bench bench;
  for (int i = 0; i < 4; ++i) {
    bench.Submit({.tenant = "a", .priority = 100});
    bench.Submit({.tenant = "b", .priority = -100});
  }
  std::string order;
  for (int i = 0; i < 4; ++i) order += bench.RunTenant();
  EXPECT_EQ(order, "abab");
}

TEST(FairQueue, UsersOfATenantShareAlike) {
  Bench bench;
  for (int i = 0; i < 50; ++i) bench.Submit({.user = "greedy"});
  for (int i = 0; i < 3; ++i) bench.Submit({.user = "polite"});
  std::string order;
  for (int i = 0; i < 7; ++i) order += bench.Run()->account->user.str()[0];
  EXPECT_EQ(order, "gpgpgpg");
}

TEST(FairQueue, AUserGetsNoSecondShareByAnotherPriority) {
  Bench bench;
  for (int i = 0; i < 40; ++i) {
    bench.Submit({.user = "one"});
    bench.Submit({.user = "two", .priority = i % 2});
  }
  for (int i = 0; i < 20; ++i) ASSERT_EQ(bench.Run()->account->user.str(), "two") << "the higher priority";
  std::string order;
  for (int i = 0; i < 20; ++i) order += bench.Run()->account->user.str()[0];
  EXPECT_EQ(order, std::string(20, 'o')) << "then the user that has had less";
}

TEST(FairQueue, AHeldSessionIsPassedAndHasItsTurnsAgainWhenItIsReleased) {
  Bench bench;
  Job* a = bench.Submit({.session = 1});
  bench.Submit({.tenant = "u", .session = 1});
  Job* b = bench.Submit({.session = 2});
  bench.queue.Hold(bench.sessions[1]);
  EXPECT_EQ(bench.queue.held(), 2u);
  bench.Submit({.user = "another", .session = 1});
  EXPECT_EQ(bench.queue.held(), 3u) << "its new lines are held too";
  EXPECT_EQ(bench.Run(), b);
  EXPECT_EQ(bench.Run(), nullptr);
  bench.queue.Release(bench.sessions[1]);
  EXPECT_EQ(bench.queue.held(), 0u);
  EXPECT_EQ(bench.queue.QueuedOf(TenantId("t")), 2u);
  EXPECT_EQ(bench.RunTenant(), "u") << "t has had one";
  EXPECT_EQ(bench.Run()->account->user.str(), "another");
  EXPECT_EQ(bench.Run(), a);
}

TEST(FairQueue, ALineThatIsSetAsideMayEndBeHeldAndComeBack) {
  Bench bench;
  Job* alone = bench.Submit({.session = 1});
  Job* first = bench.Submit({.session = 2});
  Job* second = bench.Submit({.session = 2});
  Job* held = bench.Submit({.session = 3});
  for (Job* job : {alone, first, held}) bench.queue.SetAside(*job);
  EXPECT_EQ(bench.queue.Front(), nullptr);
  bench.End(alone);
  bench.End(first);
  bench.queue.Hold(bench.sessions[3]);
  bench.queue.PutBack();
  EXPECT_EQ(bench.Run(), second);
  EXPECT_EQ(bench.Run(), nullptr);
  bench.queue.ReleaseAll();
  EXPECT_EQ(bench.Run(), held);
}

TEST(FairQueue, ForgetsTenantsAndUsersThatHaveNothingHere) {
  Bench bench;
  for (std::size_t i = 0; i < 3 * FairQueue::kMaxIdle; ++i) {
    bench.Submit({.tenant = std::to_string(i)});
    bench.End(bench.Run());
  }
  EXPECT_LE(bench.queue.tenants(), FairQueue::kMaxIdle);
  bench.Submit({.tenant = "cancelled"});
  for (int i = 0; i < 3; ++i) bench.Submit({.tenant = "busy"});
  while (bench.Run() != nullptr) {
  }
  EXPECT_GE(bench.queue.tenants(), 2u);
}

TEST(FairQueue, AUserWhoseSessionWasHeldBackHasNotSavedUp) {
  Bench bench;
  for (int i = 0; i < 20; ++i) {
    bench.Submit({.user = "held", .session = 1});
    bench.Submit({.user = "other", .session = 2});
  }
  bench.queue.Hold(bench.sessions[1]);
  for (int i = 0; i < 10; ++i) bench.Serve();
  bench.queue.Release(bench.sessions[1]);
  std::string order;
  for (int i = 0; i < 6; ++i) order += bench.Serve().user.str()[0];
  EXPECT_EQ(order, "hhohoh") << "both had begun at once: the first to come is before the other";
}

}  // namespace
}  // namespace skerry::broker
