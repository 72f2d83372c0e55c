// The public hostile corpus beside another tenant's steady traffic: what the neighbour loses by it.
//
// Four drivers run the cases, each one at a time: a case, then a job of the same tenant's that must be well.
// The neighbour has a trivial job due every few milliseconds, whose latency is its client's figure, and
// others that are in flight for a while and show that nothing of them was lost. The long form runs, in turns
// with each part of the corpus, as many well-behaved jobs that spin for the CPU time that the cases used: the
// neighbour's 99th percentile beside the corpus is at most twice that beside them.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>

#include "common/testing/free_port.h"
#include "tests/hostile/hostile_case.h"
#include "tests/support/load.h"
#include "tests/support/metrics_page.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

constexpr int kDrivers = 4;
// One for each driver, the neighbour's long ones, and room for its short ones.
constexpr int kLongOnes = 2;
constexpr int kSlots = kDrivers + kLongOnes + 2;
constexpr Millis kEvery{10};
constexpr double kMostSlowdown = 2;
constexpr int kTicks = 4;

std::vector<HostileCase> SharedCases() {
  const auto shared = SharedFile("cases/hostile.jsonl");
  if (!shared) return {};
  auto cases = ReadCases(*shared);
  AddDemands(SKERRY_TEST_FOLDER "/shared_case_demands.jsonl", cases);
  return cases;
}

HostReply AnswerAnything(const JobId&, std::string_view, std::string_view) {
  return {HostReply::Kind::kValue, "\"answer\"", Millis(0)};
}
HostReply Tick(const JobId&, std::string_view, std::string_view) {
  return {HostReply::Kind::kValue, "1", Millis(50)};
}

// The jobs of a phase, handed out to the drivers: one, then its successor, which must find the pool well.
class Queue {
 public:
  explicit Queue(std::vector<Job> jobs) : jobs_(std::move(jobs)) {}

  Load::Source Driver() {
    return [this, after = std::optional<Job>()]() mutable -> std::optional<Job> {
      if (after) return std::exchange(after, std::nullopt);
      const std::size_t at = next_++;
      if (at >= jobs_.size()) return std::nullopt;
      after = Job("after-" + jobs_[at].id(), "return 1+1").Tenant(kHostile);
      return jobs_[at];
    };
  }

  static constexpr const char* kHostile = "hostile";

 private:
  const std::vector<Job> jobs_;
  std::atomic<std::size_t> next_{0};
};

// The neighbour while a phase lasts.
class Neighbour {
 public:
  explicit Neighbour(const Pool& pool)
      : short_(pool.client_url(), {.every = kEvery}, Endless("short", Job("", "return 6*7").Tenant(kName))),
        long_(pool.client_url(), {.window = kLongOnes},
              Endless("long", Job("", "let s=0;for(let i=0;i<" + std::to_string(kTicks) +
                                          ";i++){s+=await dataProxy.request('tick');reportStatus(s)}return s")
                                  .Tenant(kName)),
              Tick) {}

  /// Its latencies, once it has seen that all it ever asked for came right.
  std::vector<double> Leave() {
    short_.Stop();
    long_.Stop();
    for (const auto& [id, job] : short_.Join()) EXPECT_TRUE(IsOk(job.result, 42)) << id;
    for (const auto& [id, job] : long_.Join()) {
      EXPECT_TRUE(IsOk(job.result, kTicks)) << id;
      EXPECT_EQ(job.result.Events("status").size(), static_cast<std::size_t>(kTicks)) << Shown(job.result);
    }
    EXPECT_GT(long_.finished(), 0u);
    return Latencies(short_.Join());
  }

  std::size_t jobs() const { return short_.finished() + long_.finished(); }

 private:
  static constexpr const char* kName = "neighbour";
  Load short_;
  Load long_;
};

class HostileNeighbours : public ::testing::Test {
 protected:
  using Results = std::map<std::string, JobResult>;

  void SetUp() override {
    if (SharedCases().empty()) GTEST_SKIP() << "no shared cases/hostile.jsonl";
    ASSERT_TRUE(IsOk(pool_.RunOne(Job("warm", "return 1")), Json(1))) << pool_.Logs();
    jobs_ = 1;
  }

  // Runs these beside the neighbour, and sets its latencies.
  Results Phase(std::vector<Job> jobs, std::vector<double>& latencies) {
    const std::size_t count = jobs.size();
    Queue queue(std::move(jobs));
    Neighbour neighbour(pool_);
    Results results;
    std::vector<std::unique_ptr<Load>> drivers;
    for (int i = 0; i < kDrivers; ++i)
      drivers.push_back(
          std::make_unique<Load>(pool_.client_url(), Pace{.window = 1}, queue.Driver(), AnswerAnything));
    for (auto& driver : drivers) {
      for (const auto& [id, job] : driver->Join()) results[id] = job.result;
    }
    latencies = neighbour.Leave();
    EXPECT_EQ(results.size(), 2 * count);
    jobs_ += results.size() + neighbour.jobs();
    for (const auto& [id, result] : results) {
      if (!id.starts_with("after-")) continue;
      EXPECT_TRUE(IsOk(result, 2)) << "the job after " << id.substr(6);
    }
    return results;
  }

  static std::string IdOf(const HostileCase& hostile, int tenant) {
    return tenant == 0 ? hostile.id : hostile.id + "-again";
  }

  Results RunCases(const std::vector<HostileCase>& cases, std::vector<double>& latencies) {
    std::vector<Job> jobs;
    for (const auto& hostile : cases) {
      for (int i = 0; i < hostile.tenants(); ++i)
        jobs.push_back(hostile.ToJob(i == 0 ? Queue::kHostile : "another-hostile").As(IdOf(hostile, i)));
    }
    Results results = Phase(jobs, latencies);
    for (const auto& hostile : cases) {
      for (int i = 0; i < hostile.tenants(); ++i)
        EXPECT_TRUE(Accepts(hostile, results[IdOf(hostile, i)])) << hostile.id;
    }
    return results;
  }

  // As many as there were cases, each with the CPU time of one.
  void RunTwins(const Results& cases, std::vector<double>& latencies) {
    std::vector<Job> jobs;
    for (const auto& [id, result] : cases) {
      if (id.starts_with("after-")) continue;
      jobs.push_back(Job("twin-of-" + id, "const t=Date.now();while(Date.now()-t<input);return 1")
                         .Tenant(Queue::kHostile)
                         .Set("input", std::max(1, static_cast<int>(result.Usage("cpuMs"))))
                         .Limit("timeoutMs", 60'000));
    }
    for (const auto& [id, result] : Phase(jobs, latencies)) {
      if (id.starts_with("after-")) continue;
      EXPECT_TRUE(IsOk(result, 1)) << id;
    }
  }

  void CheckFinals() const {
    const auto jobs = static_cast<double>(jobs_);
    const MetricsPage page =
        AwaitMetrics(port_, [](const MetricsPage& now) { return now.Sum("skerry_running_jobs") == 0; });
    EXPECT_EQ(page.Sum("skerry_jobs_submitted_total"), jobs);
    EXPECT_EQ(page.Sum("skerry_jobs_finished_total"), jobs);
    EXPECT_EQ(page.Sum("skerry_stray_finals_total"), 0);
    EXPECT_EQ(page.Sum("skerry_running_jobs"), 0);
  }

  const std::uint16_t port_ = FreePort();
  Pool pool_{{.isolates = kSlots, .broker_args = {"--metrics", "127.0.0.1:" + std::to_string(port_)}}};
  std::size_t jobs_ = 0;
};

// Every `step`-th of the cases, from the `first`.
std::vector<HostileCase> Part(std::size_t first, std::size_t step) {
  const auto cases = SharedCases();
  std::vector<HostileCase> part;
  for (std::size_t i = first; i < cases.size(); i += step) part.push_back(cases[i]);
  return part;
}

TEST_F(HostileNeighbours, SeeNoErrorBesideAFifthOfTheCorpus) {
  std::vector<double> latencies;
  RunCases(Part(0, 5), latencies);
  CheckFinals();
}

// The neighbour's latencies in all phases of a kind. The median of rounds: one in which the whole machine
// stood still does not decide.
class Beside {
 public:
  void Add(const std::vector<double>& latencies) {
    ASSERT_FALSE(latencies.empty());
    jobs_ += latencies.size();
    p50s_.push_back(Quantile(latencies, 0.5));
    p99s_.push_back(Quantile(latencies, 0.99));
  }
  double P99() const { return Quantile(p99s_, 0.5); }
  std::string Told() const {
    char text[128];
    std::snprintf(text, sizeof text, "%zu jobs, medians of rounds: p50 %.2f ms, p99 %.2f ms (%.2f to %.2f)",
                  jobs_, Quantile(p50s_, 0.5), P99(), Quantile(p99s_, 0), Quantile(p99s_, 1));
    return text;
  }

 private:
  std::size_t jobs_ = 0;
  std::vector<double> p50s_;
  std::vector<double> p99s_;
};

using HostileNeighboursFull = HostileNeighbours;

TEST_F(HostileNeighboursFull, SeeNoErrorAndAtMostTwiceTheLatencyBesideTheWholeCorpus) {
  constexpr std::size_t kRounds = 6;
  Beside corpus;
  Beside twins;
  std::vector<double> latencies;
  for (std::size_t round = 0; round < kRounds; ++round) {
    const Results cases = RunCases(Part(round, kRounds), latencies);
    corpus.Add(latencies);
    RunTwins(cases, latencies);
    twins.Add(latencies);
  }
  CheckFinals();
  const double ratio = corpus.P99() / twins.P99();
  std::printf("beside the corpus: %s\nbeside its twins:  %s\nratio of p99: %.2f\n", corpus.Told().c_str(),
              twins.Told().c_str(), ratio);
  RecordProperty("p99_beside_corpus_us", static_cast<int>(corpus.P99() * 1000));
  RecordProperty("p99_beside_twins_us", static_cast<int>(twins.P99() * 1000));
  EXPECT_LE(ratio, kMostSlowdown);
}

}  // namespace
}  // namespace skerry::testing
