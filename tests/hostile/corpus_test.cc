// Every hostile input through the whole stack, four at a time, with another tenant's jobs running beside
// them.
//
// All cases run once, before the tests; each has a test of its own that judges it. Beside every case runs a
// bystander of another tenant, which must finish right, and after every case the pool must still answer 1+1
// with 2. Each job has exactly one result line (RunJobs sees to that), and the broker must have counted one
// final per job and none too many. SKERRY_CASES=text runs only the cases whose id contains the text.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "common/testing/free_port.h"
#include "tests/hostile/hostile_case.h"
#include "tests/support/http.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

constexpr int kAtATime = 4;
// A slot for each case and its bystander, and one for the job after them.
constexpr int kSlots = 3 * kAtATime;

std::vector<HostileCase> AllCases() {
  return AllHostileCases(SKERRY_TEST_FOLDER);
}

int Ticks(double ms) {
  return std::max(2, static_cast<int>(ms / 100));
}

// A job that is in flight for about as long as its hostile neighbour may be, and whose value shows that it
// was whole.
Job Bystander(const std::string& id, double ms) {
  return Job(id,
             "let s=0;for(let i=0;i<input;i++){s+=await "
             "dataProxy.request('bystander.tick');reportStatus(s)}return s")
      .Tenant("bystander")
      .Set("input", Ticks(ms));
}

RunOptions Fixtures() {
  return {.fixtures = Json{{"bystander.tick", {{"$value", 1}, {"$delayMs", 100}}}, {"*", "answer"}}};
}

struct CaseRun {
  JobResult result;
  JobResult beside;
  int ticks = 0;  // what `beside` must have counted
  JobResult after;
};

// The pool and all that ran on it, for the whole program.
class Corpus : public ::testing::Environment {
 public:
  void SetUp() override {
    port_ = FreePort();
    pool_ = std::make_unique<Pool>(
        PoolOptions{.isolates = kSlots, .broker_args = {"--metrics", "127.0.0.1:" + std::to_string(port_)}});
    ASSERT_TRUE(IsOk(pool_->RunOne(Job("warm", "return 1")), Json(1))) << pool_->Logs();
    submitted_ = 1;
    const auto cases = AllCases();
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> drivers;
    for (int i = 0; i < kAtATime; ++i) {
      drivers.emplace_back([this, &cases, &next] {
        for (std::size_t at; (at = next++) < cases.size();) RunCase(cases[at]);
      });
    }
    for (auto& driver : drivers) driver.join();
  }
  void TearDown() override { pool_.reset(); }

  Pool& pool() { return *pool_; }
  std::string Metrics() const { return HttpGet(port_, "/metrics"); }
  double submitted() const { return submitted_; }
  const std::vector<CaseRun>& RunsOf(const std::string& id) { return runs_[id]; }

 private:
  void RunCase(const HostileCase& hostile) {
    // Most cases end in no time; only those that may run into their timeout need company for that long.
    const double company_ms = hostile.may_time_out() ? std::min(hostile.longest_ms(), 1500.0) + 100 : 200;
    for (int i = 0; i < hostile.tenants(); ++i) {
      SCOPED_TRACE(hostile.id);
      const std::string tenant = "tenant" + std::to_string(i);
      const auto report = pool_->Run({Bystander("bystander", company_ms), hostile.ToJob(tenant)}, Fixtures());
      CaseRun run{report.At(hostile.id), report.At("bystander"), Ticks(company_ms),
                  pool_->RunOne(Job("after", "return 1+1").Tenant(tenant))};
      const std::lock_guard lock(mutex_);
      runs_[hostile.id].push_back(std::move(run));
      submitted_ += 3;
    }
  }

  std::unique_ptr<Pool> pool_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::vector<CaseRun>> runs_;
  double submitted_ = 0;
};

// GoogleTest owns it.
Corpus* const corpus = static_cast<Corpus*>(::testing::AddGlobalTestEnvironment(new Corpus));

class HostileCorpus : public ::testing::TestWithParam<HostileCase> {};

TEST_P(HostileCorpus, EndsAsAcceptedAndTouchesNobodyElse) {
  const auto& runs = corpus->RunsOf(GetParam().id);
  ASSERT_EQ(runs.size(), static_cast<std::size_t>(GetParam().tenants()));
  for (const auto& run : runs) {
    EXPECT_TRUE(Accepts(GetParam(), run.result)) << GetParam().fields.value("note", "");
    EXPECT_TRUE(IsOk(run.beside, run.ticks)) << "another tenant's job that was in flight";
    EXPECT_EQ(run.beside.Events("status").size(), static_cast<std::size_t>(run.ticks));
    EXPECT_TRUE(IsOk(run.after, 2)) << "the next job of the pool";
  }
}

// The pool after all of them: they ran before the first test.
TEST(HostileCorpusLeaves, OneFinalPerJobAndNoneTooMany) {
  const std::string page = corpus->Metrics();
  EXPECT_EQ(MetricSum(page, "skerry_jobs_submitted_total"), corpus->submitted()) << page;
  EXPECT_EQ(MetricSum(page, "skerry_jobs_finished_total"), corpus->submitted()) << page;
  EXPECT_EQ(MetricSum(page, "skerry_stray_finals_total"), 0);
  EXPECT_EQ(MetricSum(page, "skerry_running_jobs"), 0);
}

TEST(HostileCorpusLeaves, TheWorkerAndTheBrokerAsTheyWere) {
  EXPECT_TRUE(corpus->pool().broker().IsRunning()) << corpus->pool().Logs();
  EXPECT_TRUE(corpus->pool().worker().IsRunning()) << corpus->pool().Logs();
  std::vector<Job> jobs;
  for (int i = 0; i < 2 * kSlots; ++i) jobs.emplace_back("j" + std::to_string(i), "return 1+1");
  const auto report = corpus->pool().Run(jobs);
  for (const auto& job : jobs) EXPECT_TRUE(IsOk(report.At(job.id()), 2));
}

TEST(HostileCorpusFile, IsThere) {
  if (!SharedFile("cases/hostile.jsonl"))
    GTEST_SKIP() << "no shared cases/hostile.jsonl; our own cases ran alone";
  if (getenv("SKERRY_CASES") != nullptr) GTEST_SKIP() << "a part of the cases was chosen";
  EXPECT_GE(AllCases().size(), 120u + ReadCases(SKERRY_TEST_FOLDER "/own_cases.jsonl").size());
}

std::string TestName(const ::testing::TestParamInfo<HostileCase>& info) {
  std::string name = info.param.id;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, HostileCorpus, ::testing::ValuesIn(AllCases()), TestName);

}  // namespace
}  // namespace skerry::testing
