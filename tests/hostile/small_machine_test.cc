// A worker with little memory under programs that want all of it: what it promises, what the kernel sees it
// use, and how its other tenants fare meanwhile.
//
// What is promised is replayed from the worker's debug log, which has a line when a job has its budget and
// one before it gives it back, and read from the metrics. What is used is the anonymous memory of the
// worker's children: a fork's own is what it has above its template's.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

#include "common/testing/free_port.h"
#include "common/testing/proc_fs.h"
#include "tests/hostile/memory_kind.h"
#include "tests/support/load.h"
#include "tests/support/metrics_page.h"
#include "tests/support/pool.h"
#include "tests/support/pool_watch.h"

namespace skerry::testing {
namespace {

constexpr int kWorkerMb = 1'024;
constexpr int kSlots = 16;
constexpr int kSpares = 4;
constexpr std::uint64_t kBombMb = 64;
constexpr std::uint64_t kNeighbourMb = 16;
// What IsolateManager sets aside: two cells of 64 MB, 8 MB for each spare.
constexpr std::uint64_t kJobsMb = kWorkerMb - 2 * 64 - kSpares * 8;
// A bomb's peak above its budget, as memory_bombs_test holds it.
constexpr std::uint64_t kSlackMb = 40;
// How long a trivial job may take once it has its turn: what it waits in the broker's queue, which is in
// order of arrival, is the length of the queue before it.
constexpr double kMostPatienceMs = 2'000;

std::uint64_t AnonymousBytes(pid_t pid) {
  return std::strtoull(StatusField(pid, "RssAnon").c_str(), nullptr, 10) * 1024;
}

// The most that a worker's children have had together, and the most children, while this lives.
class Watch {
 public:
  explicit Watch(Pool& pool) : worker_(pool.worker().pid()), inherited_(AnonymousBytes(NewestCellOf(pool))) {
    EXPECT_GT(inherited_, 0u);
    thread_ = std::thread([this] {
      while (!stop_) {
        Look();
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
      }
    });
  }
  ~Watch() { Stop(); }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::uint64_t most_bytes() const { return most_bytes_; }
  std::size_t most_children() const { return most_children_; }

 private:
  void Look() {
    std::uint64_t bytes = 0;
    std::size_t children = 0;
    for (const pid_t pid : ChildrenOf(worker_)) {
      const std::uint64_t anonymous = AnonymousBytes(pid);
      children += anonymous > 0 ? 1 : 0;
      bytes += anonymous > inherited_ ? anonymous - inherited_ : 0;
    }
    most_bytes_ = std::max(most_bytes_, bytes + inherited_);
    most_children_ = std::max(most_children_, children);
  }

  const pid_t worker_;
  const std::uint64_t inherited_;
  std::uint64_t most_bytes_ = 0;
  std::size_t most_children_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// From its dispatch to its client.
std::vector<double> TimesPastTheQueue(const std::map<std::string, Finished>& finished) {
  std::vector<double> times;
  for (const auto& [id, job] : finished) times.push_back(job.latency_ms - job.result.Usage("queueMs"));
  return times;
}

std::uint64_t BudgetMbOf(const std::string& id) {
  return id.starts_with("short") ? kNeighbourMb : kBombMb;
}

// The most MiB and jobs that were promised at once.
struct Promised {
  std::uint64_t most_mb = 0;
  int most_jobs = 0;
};
Promised Replay(const std::string& log) {
  Promised promised;
  std::uint64_t mb = 0;
  int jobs = 0;
  for (const std::string& line : SplitLines(log)) {
    const std::size_t at = line.find(" job=");
    if (at == std::string::npos) continue;
    const std::uint64_t budget = BudgetMbOf(line.substr(at + 5, line.find(' ', at + 5) - at - 5));
    if (line.find(" job taken ") != std::string::npos) {
      mb += budget;
      ++jobs;
    } else if (line.find(" job ended ") != std::string::npos) {
      mb -= budget;
      --jobs;
    }
    promised.most_mb = std::max(promised.most_mb, mb);
    promised.most_jobs = std::max(promised.most_jobs, jobs);
  }
  EXPECT_EQ(jobs, 0) << "a line of the log is missing";
  return promised;
}

PoolOptions Small(std::uint16_t metrics, std::vector<std::string> worker_args) {
  return {.isolates = kSlots,
          .spares = kSpares,
          .memory_mb = kWorkerMb,
          .broker_args = {"--metrics", "127.0.0.1:" + std::to_string(metrics),
                          // All of them are to be run, however many crash.
                          "--program-crashes", "0", "--tenant-crashes", "0"},
          .worker_args = std::move(worker_args)};
}

enum class Kinds : std::uint8_t { kCheap, kAll };

// The cheap ones are at their bound within some 0.3 s of a core; the others take V8 up to two.
std::vector<MemoryKind> Of(Kinds kinds) {
  std::vector<MemoryKind> chosen = MemoryKinds();
  if (kinds == Kinds::kAll) return chosen;
  const std::set<std::string> cheap = {"arrays", "buffers", "bigint", "intl"};
  std::erase_if(chosen, [&](const MemoryKind& kind) { return !cheap.contains(kind.name); });
  return chosen;
}

// Programs that take and let go for a while, and programs that hold what they may.
std::vector<Job> WellBehaved(int storms, Kinds kinds) {
  std::vector<Job> jobs;
  for (int i = 0; i < storms; ++i) {
    jobs.push_back(Job("storm" + std::to_string(i),
                       "const t=Date.now();let n=0;while(Date.now()-t<500)n+=new Array(1e5).fill(n).length;"
                       "return n>0")
                       .Limit("memoryMb", kBombMb)
                       .Limit("timeoutMs", 60'000));
  }
  for (const auto& kind : Of(kinds)) jobs.push_back(TwinJob(kind, kBombMb));
  for (Job& job : jobs) job.Tenant("well-behaved");
  return jobs;
}

void LiveThroughBombs(int bombs, int storms, Kinds kinds) {
  const std::uint16_t port = FreePort();
  Pool pool(Small(port, {"--log-level", "debug"}));
  ASSERT_TRUE(IsOk(pool.RunOne(Job("short-first", "return 1").Limit("memoryMb", kNeighbourMb)), Json(1)))
      << pool.Logs();
  std::vector<Job> all;
  const auto chosen = Of(kinds);
  for (int i = 0; i < bombs; ++i) {
    const auto& kind = chosen[static_cast<std::size_t>(i) % chosen.size()];
    all.push_back(BombJob(kind, kBombMb).As("bomb" + std::to_string(i)).Tenant("bomber"));
  }
  const auto well_behaved = WellBehaved(storms, kinds);
  Watch watch(pool);
  Load shorts(pool.client_url(), {.window = 1, .every = Millis(40)},
              Endless("short", Job("", "return 6*7").Tenant("neighbour").Limit("memoryMb", kNeighbourMb)));
  Load others(pool.client_url(), {.window = 4}, Each(well_behaved));
  Load bomber(pool.client_url(), {.window = static_cast<std::uint64_t>(bombs)}, Each(all));
  double most_metric = 0;
  while (bomber.finished() < all.size() && pool.worker().IsRunning() && pool.broker().IsRunning()) {
    most_metric =
        std::max(most_metric, MetricsPage::Of(port).Value(R"(skerry_worker_memory_bytes{state="promised"})"));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  for (const auto& [id, job] : bomber.Join()) EXPECT_TRUE(IsError(job.result, "OOM", "memoryMb")) << id;
  for (const auto& [id, job] : others.Join()) EXPECT_TRUE(IsOk(job.result)) << id;
  shorts.Stop();
  for (const auto& [id, job] : shorts.Join()) EXPECT_TRUE(IsOk(job.result, 42)) << id;
  watch.Stop();
  EXPECT_EQ(bomber.finished(), all.size());
  EXPECT_EQ(others.finished(), well_behaved.size());

  const auto times = TimesPastTheQueue(shorts.Join());
  const double slowest = Quantile(times, 1);
  const Promised promised = Replay(ReadFile(pool.worker_log(0)));
  std::printf("promised at most %llu of %llu MiB, %d jobs; used at most %llu of %d MiB\n",
              static_cast<unsigned long long>(promised.most_mb), static_cast<unsigned long long>(kJobsMb),
              promised.most_jobs, static_cast<unsigned long long>(watch.most_bytes() >> 20), kWorkerMb);
  std::printf("%zu short jobs past the queue: p50 %.1f ms, p99 %.1f ms, slowest %.1f ms; with it %.1f ms\n",
              times.size(), Quantile(times, 0.5), Quantile(times, 0.99), slowest,
              Quantile(Latencies(shorts.Join()), 1));
  ::testing::Test::RecordProperty("most_used_mib", static_cast<int>(watch.most_bytes() >> 20));
  ::testing::Test::RecordProperty("slowest_short_ms", static_cast<int>(slowest));
  EXPECT_LE(promised.most_mb, kJobsMb);
  EXPECT_GT(promised.most_mb, kJobsMb - 2 * kBombMb) << "the bombs never filled it";
  EXPECT_LE(most_metric, static_cast<double>(kJobsMb << 20));
  EXPECT_GT(most_metric, 0);
  EXPECT_LE(watch.most_bytes(), (kWorkerMb + kSlackMb * (kJobsMb / kBombMb)) << 20);
  EXPECT_GT(watch.most_bytes(), kBombMb << 20) << "the watch saw too little to mean anything";
  EXPECT_LE(slowest, kMostPatienceMs);
  EXPECT_TRUE(pool.worker().IsRunning()) << pool.Logs();
}

TEST(SmallMachine, BombsAndStormsStayWithinItsMemoryAndHarmNobody) {
  LiveThroughBombs(24, 4, Kinds::kCheap);
}

TEST(SmallMachineFull, TwoHundredBombsAtOnceStayWithinItsMemoryAndHarmNobody) {
  LiveThroughBombs(200, 24, Kinds::kAll);
}

// Native code in the isolates' place, since JavaScript cannot even try.
TEST(SmallMachine, AHundredForkBombsMakeNoProcessAndHarmNobody) {
  constexpr int kBombs = 100;
  constexpr std::array<const char*, 5> kAttempts = {"fork", "vfork", "fork-as-the-cell", "clone3", "thread"};
  Pool pool(Small(FreePort(), {"--cell", Binary("skerry-compromised-cell")}));
  ASSERT_TRUE(IsOk(pool.RunOne(Job("first", "hello")), "hello")) << pool.Logs();
  Watch watch(pool);
  Load neighbour(pool.client_url(), {.every = Millis(20)},
                 Endless("short", Job("", "hello").Tenant("neighbour").Limit("memoryMb", kNeighbourMb)));
  std::vector<Job> all;
  for (int i = 0; i < kBombs; ++i) {
    all.push_back(
        Job("fork-bomb" + std::to_string(i), kAttempts[static_cast<std::size_t>(i) % kAttempts.size()])
            .Tenant("bomber")
            .Set("retry", "never")
            .Limit("memoryMb", kBombMb));
  }
  Load bomber(pool.client_url(), {.window = kBombs}, Each(all));
  for (const auto& [id, job] : bomber.Join()) {
    const bool killed =
        IsError(job.result, "CRASH") && job.result.message().find("SIGSYS") != std::string::npos;
    EXPECT_TRUE(killed || IsOk(job.result, "ENOSYS")) << id << ": " << Shown(job.result);
  }
  EXPECT_EQ(bomber.finished(), all.size());
  neighbour.Stop();
  for (const auto& [id, job] : neighbour.Join()) EXPECT_TRUE(IsOk(job.result, "hello")) << id;
  watch.Stop();
  // Slots and spares, two cells at a renewal with an init stub each, the dead that nobody has reaped yet.
  std::printf("at most %zu children; the slowest of %zu short jobs took %.1f ms\n", watch.most_children(),
              neighbour.finished(), Quantile(Latencies(neighbour.Join()), 1));
  EXPECT_LE(watch.most_children(), static_cast<std::size_t>(kSlots + 2 * kSpares + 4));
  EXPECT_LE(Quantile(Latencies(neighbour.Join()), 1), kMostPatienceMs);
}

}  // namespace
}  // namespace skerry::testing
