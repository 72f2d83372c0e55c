// Tenants beside each other in the whole core: what a greedy one costs the others, and what fairness costs.
#include <algorithm>
#include <cmath>
#include <queue>
#include <random>

#include "broker/testing/core_harness.h"
#include "common/logging.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

constexpr double kServiceMs = 10;

/// Jobs that take kServiceMs on a pool, by a clock that jumps from event to event.
class Pool {
 public:
  explicit Pool(std::uint64_t slots) : broker_(Config()) { broker_.ConnectWorker("w", slots, 1u << 20); }
  /// Sends nothing else; its jobs arrive as chance has it, `per_ms` of them in the mean.
  void AddPolite(const std::string& tenant, double per_ms, int jobs, unsigned seed) {
    broker_.ConnectClient(tenant, tenant);
    std::mt19937 random(seed);
    double at = 0;
    for (int i = 0; i < jobs; ++i) {
      at += -std::log(1 - static_cast<double>(random() % 1'000'000) / 1e6) / per_ms;
      events_.push({at, tenant, LeaseId()});
    }
  }
  void AddGreedy(const std::string& tenant, int jobs) {
    broker_.ConnectClient(tenant, tenant);
    for (int i = 0; i < jobs; ++i) Submit(tenant);
  }
  /// Its jobs have a slot for so long, and do not compute.
  void SleepsFor(const std::string& tenant, double ms) { sleeps_[tenant] = ms; }
  /// Until all that is polite has started. The queue times of each tenant, in ms.
  std::map<std::string, std::vector<double>> Run(std::size_t polite_jobs) {
    std::size_t started = 0;
    TakeDispatches(0, started);
    while (!events_.empty() && started < polite_jobs) {
      const Event event = events_.top();
      events_.pop();
      broker_.now = TimePoint(std::chrono::duration_cast<SteadyClock::duration>(
          std::chrono::duration<double, std::milli>(event.at)));
      if (event.ends == LeaseId()) {
        Submit(event.tenant);
      } else {
        wire::Final final;
        final.lease = event.ends;
        final.ok = final.started = true;
        final.usage.cpu_ms = sleeps_.contains(event.tenant) ? 0 : kServiceMs;
        broker_.Say(WorkerPeer("w"), final, {"1"});
        broker_.Say(ClientPeer(event.tenant), wire::Ack{{ids_.at(event.ends)}});
      }
      TakeDispatches(event.at, started);
    }
    return waits_;
  }

 private:
  struct Event {
    double at = 0;
    std::string tenant;
    LeaseId ends;
    bool operator<(const Event& other) const { return at > other.at; }  // the earliest on top
  };
  static BrokerConfig Config() {
    BrokerConfig config;
    config.client_credit = 1'000'000;
    config.max_queued = 1'000'000;
    config.client_window = Bytes::MiB(1'024);
    config.max_unacked_finals = 1'000'000;
    return config;
  }
  void Submit(const std::string& tenant) {
    JobSpec spec = CoreHarness::Spec(std::to_string(next_++));
    spec.tenant = TenantId(tenant);
    spec.limits = {{"memoryMb", 8}};
    broker_.Submit(tenant, spec);
    broker_.sends.erase(
        std::remove_if(broker_.sends.begin(), broker_.sends.end(),
                       [](const Send& send) { return !std::holds_alternative<wire::Dispatch>(send.header); }),
        broker_.sends.end());
    submitted_[spec.id.str()] = std::chrono::duration<double, std::milli>(broker_.now - TimePoint()).count();
  }
  void TakeDispatches(double now, std::size_t& started) {
    for (const Send& send : broker_.sends) {
      const auto* dispatch = std::get_if<wire::Dispatch>(&send.header);
      if (dispatch == nullptr) continue;
      const std::string tenant = dispatch->job.tenant.str();
      waits_[tenant].push_back(now - submitted_.at(dispatch->job.id.str()));
      if (tenant != "greedy") ++started;
      ids_[dispatch->lease] = dispatch->job.id.str();
      const auto sleeps = sleeps_.find(tenant);
      events_.push({now + (sleeps == sleeps_.end() ? kServiceMs : sleeps->second), tenant, dispatch->lease});
    }
    broker_.Clear();
  }

  CoreHarness broker_;
  std::priority_queue<Event> events_;
  std::map<std::string, double> sleeps_;
  std::map<std::string, double> submitted_;
  std::map<LeaseId, std::string> ids_;
  std::map<std::string, std::vector<double>> waits_;
  int next_ = 1;
};

double P99(std::vector<double> waits) {
  std::sort(waits.begin(), waits.end());
  return waits.at(waits.size() * 99 / 100);
}

TEST(FairTenants, AGreedyOneWith50000JobsAtMostDoublesTheWaitOfThoseWhoKeepWithinTheirShare) {
  ASSERT_TRUE(InitLogging("broker", "off"));
  constexpr int kPolite = 9, kJobs = 1'000;
  constexpr double kPerMs = 0.7 / kServiceMs;  // of a slot each: its share of ten
  Pool together(kPolite + 1);
  together.AddGreedy("greedy", 50'000);
  for (int i = 0; i < kPolite; ++i)
    together.AddPolite("p" + std::to_string(i), kPerMs, kJobs, static_cast<unsigned>(i + 1));
  const auto beside = together.Run(kPolite * kJobs);
  EXPECT_GT(beside.at("greedy").size(), 3'000u) << "and what the others leave is the greedy one's";
  for (int i = 0; i < kPolite; ++i) {
    const std::string tenant = "p" + std::to_string(i);
    Pool apart(1);
    apart.AddPolite(tenant, kPerMs, kJobs, static_cast<unsigned>(i + 1));
    const double alone = P99(apart.Run(kJobs).at(tenant));
    EXPECT_GT(alone, kServiceMs) << "it has to wait for itself";
    ASSERT_EQ(beside.at(tenant).size(), static_cast<std::size_t>(kJobs));
    EXPECT_LE(P99(beside.at(tenant)), 2 * alone) << tenant;
  }
}

TEST(FairTenants, WhoseJobsOnlyWaitPayForTheSlotsThatTheyHold) {
  ASSERT_TRUE(InitLogging("broker", "off"));
  constexpr int kJobs = 400;
  constexpr double kSleepMs = 10 * kServiceMs;
  Pool pool(2);
  pool.AddGreedy("greedy", 1'000);
  pool.SleepsFor("greedy", kSleepMs);
  pool.AddPolite("polite", 1'000, kJobs, 1);  // all at once
  const auto waits = pool.Run(kJobs);
  const double slept = static_cast<double>(waits.at("greedy").size()) * kSleepMs;
  EXPECT_NEAR(slept, kJobs * kServiceMs, 3 * kSleepMs) << "each has had half of the slots' time";
}

TEST(FairTenants, WhoseJobsHoldSlotsForHalfAMinuteHaveTheirShareOfThemAndNoMore) {
  ASSERT_TRUE(InitLogging("broker", "off"));
  constexpr int kJobs = 10'000;
  constexpr double kSleepMs = 30'000;
  Pool pool(4);
  pool.AddGreedy("greedy", 1'000);  // nobody else is there: it has all slots, once
  pool.SleepsFor("greedy", kSleepMs);
  pool.AddPolite("polite", 1'000, kJobs, 1);
  const auto waits = pool.Run(kJobs);
  const auto& polite = waits.at("polite");
  const double half_of_the_pool = kJobs * kServiceMs / 2;
  EXPECT_NEAR(*std::max_element(polite.begin(), polite.end()), kSleepMs + half_of_the_pool, 5 * kServiceMs);
  EXPECT_EQ(waits.at("greedy").size(), 4u + 2u + 2u) << "two for each half a minute after the first";
}

/// A pool where each job of "slow" has had its slot for so long, and "other" has had a result.
class KeptPlace : public ::testing::Test {
 protected:
  void Begin(std::uint64_t slots, Millis slow, std::uint64_t memory_mb = 4096) {
    broker_.ConnectClient("c", "s");
    broker_.ConnectWorker("w", slots, memory_mb);
    Submit("other");
    End(Millis(1));
    // The first is thought to take as long as other tenants' did.
    for (int i = 0; i < 2; ++i) {
      Submit("slow");
      End(slow);
    }
  }
  void Submit(const std::string& tenant, std::uint64_t memory_mb = 8) {
    JobSpec spec = CoreHarness::Spec(std::to_string(next_++));
    spec.tenant = TenantId(tenant);
    spec.limits = {{"memoryMb", memory_mb}, {"timeoutMs", 60'000}};
    broker_.Submit("c", spec, tenant);
  }
  void End(Millis after) {
    const LeaseId lease = broker_.LastLease("w");
    const TimePoint at = broker_.now + after;
    broker_.Pass(after, kAlive);
    broker_.now = at;
    broker_.FinishOk(WorkerPeer("w"), lease);
    broker_.Say(ClientPeer("c"), wire::Ack{{std::to_string(next_ - 1)}});
    broker_.Clear();
  }
  std::string Dispatched() {
    std::string order;
    for (const auto& dispatch : broker_.ToWorker<wire::Dispatch>("w")) order += dispatch.job.tenant.str()[0];
    return order;
  }

  const std::vector<Peer> kAlive = {ClientPeer("c"), WorkerPeer("w")};
  CoreHarness broker_;
  int next_ = 1;
};

TEST_F(KeptPlace, TheLastOneIsLeftByJobsThatTakeASecondForATenantThatWasHereAMomentAgo) {
  Begin(3, Millis(1'000));
  for (int i = 0; i < 4; ++i) Submit("slow");
  EXPECT_EQ(Dispatched(), "ss");
  Submit("other");
  EXPECT_EQ(Dispatched(), "sso") << "whoever comes has it at once";
  broker_.FinishOk(WorkerPeer("w"), broker_.LastLease("w"));
  EXPECT_EQ(Dispatched(), "sso") << "and again";
  broker_.Pass(TenantCompany::kInAMoment - Millis(1'000), kAlive);
  EXPECT_EQ(Dispatched(), "sso");
  broker_.Pass(Millis(2'000), kAlive);
  EXPECT_EQ(Dispatched(), "ssos") << "who has not come by then";
}

TEST_F(KeptPlace, IsAnybodysForAJobThatTakesLess) {
  Begin(3, Millis(999));
  for (int i = 0; i < 4; ++i) Submit("slow");
  EXPECT_EQ(Dispatched(), "sss");
}

TEST_F(KeptPlace, IsNobodysWhileTheOtherWaitsOrRuns) {
  Begin(4, Millis(2'000));
  Submit("other");
  for (int i = 0; i < 4; ++i) Submit("slow");
  EXPECT_EQ(Dispatched(), "osss") << "it has one";
}

TEST_F(KeptPlace, IsNotKeptFromATenantThatHasNoneOrIsAlone) {
  Begin(1, Millis(2'000));
  Submit("slow");
  EXPECT_EQ(Dispatched(), "s") << "a pool of one slot is nobody's for good";
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", 2);
  broker.Submit("c", "1");
  broker.now += Millis(2'000);
  broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"));
  broker.Clear();
  for (const char* id : {"2", "3"}) broker.Submit("c", id);
  EXPECT_EQ(broker.ToWorker<wire::Dispatch>("w").size(), 2u);
}

TEST_F(KeptPlace, IsOneOfMemoryToo) {
  Begin(9, Millis(2'000), 1'000);
  for (int i = 0; i < 4; ++i) Submit("slow", 250);
  EXPECT_EQ(Dispatched(), "sss");
  Submit("other", 250);
  EXPECT_EQ(Dispatched(), "ssso");
}

TEST(FairTenants, APriorityOfOneTenantDoesNotPassAnothersJobs) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  for (const char* id : {"a1", "a2", "b1", "b2"}) {
    JobSpec spec = CoreHarness::Spec(id);
    spec.tenant = TenantId(std::string(1, id[0]));
    spec.priority = id[0] == 'a' ? 100 : -100;
    broker.Submit("c", spec);
  }
  broker.ConnectWorker("w", 4);
  std::string order;
  for (const wire::Dispatch& dispatch : broker.ToWorker<wire::Dispatch>("w")) order += dispatch.job.id.str();
  EXPECT_EQ(order, "a1b1a2b2");
}

TEST(FairTenants, AJobThatHadItsTurnComesBackToTheFrontAndWasNotChargedForIt) {
  CoreHarness broker;
  broker.ConnectClient("c", "s");
  for (const char* id : {"a1", "b1", "a2", "b2"}) {
    JobSpec spec = CoreHarness::Spec(id);
    spec.tenant = TenantId(std::string(1, id[0]));
    broker.Submit("c", spec);
  }
  broker.ConnectWorker("w", 1);
  wire::Final full;
  full.lease = broker.LastLease("w");
  full.code = Code::kOverloaded;
  full.fault = Fault::kInfrastructure;
  broker.Say(WorkerPeer("w"), full, {""});
  EXPECT_EQ(broker.ToWorker<wire::Dispatch>("w").back().job.id.str(), "a1");
}

}  // namespace
}  // namespace skerry::broker
