// A greedy tenant with 50,000 queued jobs, and more coming, beside nine polite ones, through the whole stack.
//
// What a polite tenant is compared with is itself, alone with the same share: on a second pool of as many
// slots, without a greedy tenant, where tenants.toml lets each run one job at once, a tenth of the slots. So
// none of the nine takes anything from another there, and each has what its weight entitles it to beside
// nine others that always want more. Comparing with an otherwise empty pool would compare shares, not
// fairness.
//
// Both pools work at the same time and get the same arrivals, so that whatever else the machine does disturbs
// both alike. Jobs wait for a host call: slots are what is short, not the processor. A tenant offers 60 % of
// its share, at times that know nothing of each other: enough to wait for itself when it is alone.
//
// Compared is the queue's own figure (usage.queueMs), and what the client sees, which has in it whatever
// stood in the way before the queue: sockets, credit, the flood of submits.
#include <fstream>
#include <memory>

#include "tests/integration/metrics_fixture.h"
#include "tests/support/load.h"

namespace skerry::testing {
namespace {

constexpr int kPolite = 9;
constexpr int kTenants = kPolite + 1;
constexpr Millis kJob{100};
constexpr double kPerSecond = 0.5 / std::chrono::duration<double>(kJob).count();  // of a share of one slot
constexpr std::uint64_t kQueued = 50'000;
constexpr std::uint64_t kFlood = 30'000;
constexpr double kAtMost = 2;

Job Waiting(const std::string& tenant) {
  return Job(tenant, "await dataProxy.request('wait'); return 1").Tenant(tenant).Limit("memoryMb", 32);
}

HostReply Wait(const JobId&, std::string_view, std::string_view) {
  return {HostReply::Kind::kValue, "1", kJob};
}

PoolOptions TenSlots(std::vector<std::string> broker_args) {
  broker_args.insert(broker_args.end(), {"--client-credit", std::to_string(kQueued)});
  return {.isolates = kTenants, .memory_mb = 2048, .broker_args = std::move(broker_args)};
}

struct PoliteLoads {
  std::vector<std::unique_ptr<Load>> loads;

  explicit PoliteLoads(const Pool& pool) {
    for (int i = 0; i < kPolite; ++i) {
      const Pace pace{.gap = PoissonGaps(kPerSecond, static_cast<std::uint64_t>(i))};
      const std::string tenant = "polite" + std::to_string(i);
      loads.push_back(
          std::make_unique<Load>(pool.client_url(), pace, Endless(tenant + "-", Waiting(tenant)), &Wait));
    }
  }
  ~PoliteLoads() { Stop(); }
  void Stop() {
    for (const auto& load : loads) load->Stop();
  }
};

struct Waits {
  double queue_p99 = 0;
  double latency_p99 = 0;
  std::size_t jobs = 0;
};

Waits WaitsOf(Load& load) {
  std::vector<double> queue;
  for (const auto& [id, finished] : load.Join()) {
    EXPECT_TRUE(IsOk(finished.result, 1));
    queue.push_back(finished.result.Usage("queueMs"));
  }
  if (queue.empty()) return {};
  return {Quantile(queue, 0.99), Quantile(Latencies(load.Join()), 0.99), queue.size()};
}

class Greedy {
 public:
  explicit Greedy(const Pool& pool)
      : load_(pool.client_url(), {.window = kQueued}, Endless("greedy-", Waiting("greedy")), &Wait) {}
  ~Greedy() { Leave(); }
  /// As many more from a client of its own, while others work.
  void Flood(const Pool& pool) {
    flood_ = std::make_unique<Load>(pool.client_url(), Pace{.window = kFlood},
                                    Endless("flood-", Waiting("greedy")), &Wait);
  }
  void Leave() {
    load_.Abandon();
    if (flood_) flood_->Abandon();
  }
  std::size_t finished() const { return load_.finished() + (flood_ ? flood_->finished() : 0); }

 private:
  Load load_;
  std::unique_ptr<Load> flood_;
};

std::filesystem::path OneSlotEach(const std::filesystem::path& folder) {
  std::ofstream(folder / "tenants.toml") << "[default]\nmax_concurrent = 1\n";
  return folder / "tenants.toml";
}

void CompareFor(std::chrono::seconds duration) {
  const TempDir dir;
  WatchedPool shared(TenSlots({}));
  WatchedPool share(TenSlots({"--tenants", OneSlotEach(dir.path())}));
  Greedy greedy(shared.pool);
  const auto is_deep = [](const MetricsPage& page) {
    return page.Value("skerry_queued_jobs") >= kQueued - 100;
  };
  ASSERT_TRUE(is_deep(shared.Await(is_deep))) << "the greedy tenant's jobs do not come into the queue";
  share.AwaitWorker();

  PoliteLoads beside(shared.pool);
  PoliteLoads alone(share.pool);
  std::this_thread::sleep_for(duration / 3);
  greedy.Flood(shared.pool);
  std::this_thread::sleep_for(duration - duration / 3);
  EXPECT_TRUE(is_deep(shared.Page())) << "the greedy tenant had too little queued to be greedy";
  const std::size_t greedy_jobs = greedy.finished();
  beside.Stop();
  alone.Stop();
  std::size_t polite_jobs = 0;
  for (int i = 0; i < kPolite; ++i) {
    const Waits with = WaitsOf(*beside.loads[static_cast<std::size_t>(i)]);
    const Waits without = WaitsOf(*alone.loads[static_cast<std::size_t>(i)]);
    polite_jobs += with.jobs;
    std::printf(
        "polite%d: p99 in the queue %.1f ms beside, %.1f ms alone with its share (%.2f); "
        "until its final %.1f, %.1f ms (%.2f); %zu jobs\n",
        i, with.queue_p99, without.queue_p99, with.queue_p99 / without.queue_p99, with.latency_p99,
        without.latency_p99, with.latency_p99 / without.latency_p99, with.jobs);
    EXPECT_LE(with.queue_p99, kAtMost * without.queue_p99);
    EXPECT_LE(with.latency_p99, kAtMost * without.latency_p99);
    EXPECT_GE(with.jobs, 50u);
  }
  std::printf("the greedy one ended %zu jobs, the others %zu\n", greedy_jobs, polite_jobs);
  EXPECT_GT(greedy_jobs, polite_jobs / kPolite) << "what the polite leave is the greedy one's";
  greedy.Leave();
}

TEST(GreedyTenant, LeavesEachPoliteOneWhatItHasAloneWithTheSameShare) {
  CompareFor(std::chrono::seconds(22));
}

TEST(GreedyTenantFull, LeavesEachPoliteOneWhatItHasAloneWithTheSameShare) {
  CompareFor(std::chrono::seconds(60));
}

}  // namespace
}  // namespace skerry::testing
