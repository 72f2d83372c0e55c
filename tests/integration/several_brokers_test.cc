// Two brokers that know nothing of each other, workers that serve both, `skerry run` that uses both.
#include <csignal>
#include <thread>

#include "tests/support/pool.h"
#include "tests/support/run_log.h"

namespace skerry::testing {
namespace {

constexpr int kJobs = 300;

class TwoBrokers : public ::testing::Test {
 protected:
  TwoBrokers() : first_(Brokers()), second_(Brokers()) {}

  static PoolOptions Brokers() {
    PoolOptions options;
    options.workers = 0;
    options.broker_args = {"--worker-return-ms", "500"};
    return options;
  }
  void StartWorker(int isolates) {
    const auto log = Log(workers_.size());
    workers_.push_back(std::make_unique<Child>(
        std::vector<std::string>{Binary("skerry-worker"), "--broker", first_.worker_url(), "--broker",
                                 second_.worker_url(), "--isolates", std::to_string(isolates), "--memory-mb",
                                 "2048", "--max-job-memory-mb", "256", "--log-level", "debug"},
        ChildStreams{.stdout_path = log, .stderr_path = log}));
  }
  std::filesystem::path Log(std::size_t worker) const { return dir_ / ("worker" + std::to_string(worker)); }
  RunReport RunOverBoth(const std::vector<Job>& jobs, std::vector<std::string> more = {}) const {
    RunOptions options;
    options.broker = first_.client_url() + "," + second_.client_url();
    options.args = std::move(more);
    options.patience = std::chrono::seconds(100);
    return RunJobs(jobs, options);
  }
  /// Runs them while `trouble` happens, on this thread: a broker started on another would end with that.
  template <class Trouble>
  RunReport RunThrough(const std::vector<Job>& jobs, Trouble trouble) const {
    RunReport report;
    std::thread run([&] { report = RunOverBoth(jobs); });
    trouble();
    run.join();
    return report;
  }
  static std::vector<Job> Jobs(const std::string& retry) {
    std::vector<Job> jobs;
    for (int i = 0; i < kJobs; ++i) {
      Job job("j" + std::to_string(i), "let t = 0; for (let i = 0; i < 2e6; ++i) t += i % 7; return input");
      job.Set("input", i).Set("retry", retry);
      jobs.push_back(job);
    }
    return jobs;
  }
  RunLog Ran() const {
    RunLog log;
    for (std::size_t i = 0; i < workers_.size(); ++i) ReadRunLog(ReadFile(Log(i)), log);
    return log;
  }
  /// Once some jobs have run.
  void AwaitRuns(std::size_t runs) const {
    for (int tries = 0; tries < 600 && Ran().size() < runs; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::string Logs() const {
    std::string logs;
    for (std::size_t i = 0; i < workers_.size(); ++i) logs += ReadFile(Log(i)).substr(0, 20'000);
    return logs;
  }

  TempDir dir_;
  Pool first_;
  Pool second_;
  std::vector<std::unique_ptr<Child>> workers_;
};

TEST_F(TwoBrokers, ShareAWorkersSlotsAndNeverGiveOneTwice) {
  StartWorker(2);
  std::vector<Job> jobs = Jobs("safe");
  std::thread one([&] {
    const RunReport report =
        first_.Run({jobs.begin(), jobs.begin() + 100}, {.patience = std::chrono::seconds(100)});
    EXPECT_EQ(report.exit_code, 0) << report.stderr_text;
  });
  const RunReport report =
      second_.Run({jobs.begin() + 100, jobs.begin() + 200}, {.patience = std::chrono::seconds(100)});
  EXPECT_EQ(report.exit_code, 0) << report.stderr_text;
  one.join();
  EXPECT_EQ(ReadFile(Log(0)).find("a lease is refused"), std::string::npos) << Logs();
  const RunLog ran = Ran();
  EXPECT_EQ(ran.size(), 200u);
  for (const auto& [id, runs] : ran) EXPECT_EQ(runs.size(), 1u) << id;
}

TEST_F(TwoBrokers, OneThatIsKilledUnderLoadAndStartedAgainCostsNoJobItsOneResult) {
  StartWorker(2);
  StartWorker(2);
  const auto jobs = Jobs("safe");
  const RunReport report = RunThrough(jobs, [&] {
    AwaitRuns(40);
    first_.KillBroker();
    std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
    first_.StartBroker();
    AwaitRuns(150);
    second_.KillBroker();  // and stays away: its jobs go on with the first
  });
  EXPECT_EQ(report.exit_code, 0) << report.stderr_text << Logs();
  EXPECT_EQ(report.lines.size(), jobs.size());
  for (int i = 0; i < kJobs; ++i) {
    const std::string id = "j" + std::to_string(i);
    EXPECT_TRUE(IsOk(report.At(id), i)) << id;
  }
}

TEST_F(TwoBrokers, OneThatHangsForAWhileCostsNothingButTimeAndNothingTwice) {
  StartWorker(2);
  StartWorker(2);
  const auto jobs = Jobs("safe");
  const RunReport report = RunThrough(jobs, [&] {
    AwaitRuns(40);
    first_.broker().Signal(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::seconds(5));  // longer than failover takes
    first_.broker().Signal(SIGCONT);
  });
  EXPECT_EQ(report.exit_code, 0) << report.stderr_text << Logs();
  EXPECT_EQ(report.lines.size(), jobs.size());
  for (const auto& [id, count] : report.counts) EXPECT_EQ(count, 1) << id;
}

TEST_F(TwoBrokers, WhatMayNotRunTwiceDoesNotWhenOneIsKilled) {
  StartWorker(2);
  const auto jobs = Jobs("never");
  const RunReport report = RunThrough(jobs, [&] {
    AwaitRuns(60);
    first_.RestartBroker();
  });
  EXPECT_EQ(report.lines.size(), jobs.size());
  for (const auto& [id, runs] : Ran()) EXPECT_EQ(runs.size(), 1u) << id;
  for (const auto& [id, result] : report.results) {
    EXPECT_TRUE(result.ok() || result.code() == "LOST") << id << ": " << result.line();
  }
}

TEST_F(TwoBrokers, AKilledRunThatIsResumedFindsItsJobsWithTheBrokersThatHaveThem) {
  StartWorker(2);
  std::string text;
  for (const Job& job : Jobs("never")) text += job.Line() + "\n";
  WriteFile(dir_ / "jobs", text);
  const std::vector<std::string> command = {Binary("skerry"),    "run",      dir_ / "jobs",       "-o",
                                            dir_ / "out",        "--broker", first_.client_url(), "--broker",
                                            second_.client_url()};
  {
    Child run(command);
    AwaitRuns(50);
  }  // SIGKILL
  std::vector<std::string> again(command.begin() + 1, command.end());
  again.push_back("--resume");
  const CommandResult resumed = RunSkerry(again, {}, std::chrono::seconds(100));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err << Logs();
  RunReport report;
  ReadResults(ReadFile(dir_ / "out"), report);
  EXPECT_EQ(report.lines.size(), static_cast<std::size_t>(kJobs));
  for (const auto& [id, runs] : Ran()) EXPECT_EQ(runs.size(), 1u) << id;
}

}  // namespace
}  // namespace skerry::testing
