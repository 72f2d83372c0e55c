// `skerry up` as an operator runs it: READY, signals, deaths, and what is left behind.
#include <signal.h>

#include <thread>

#include "common/testing/proc_fs.h"
#include "tests/support/pool.h"
#include "tests/support/variable.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;

class UpTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(run_); }

  Child& Start(std::vector<std::string> arguments = {}) {
    std::vector<std::string> argv = {Binary("skerry"), "up", "--isolates", "2", "--spares", "1"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    up_ =
        std::make_unique<Child>(argv, ChildStreams{.stdout_path = dir_ / "out", .stderr_path = dir_ / "err"});
    return *up_;
  }
  /// Until it says READY; the endpoint that it says to use.
  std::string Ready() {
    EXPECT_TRUE(Eventually([&] { return SplitLines(Out()).size() >= 2; })) << Err();
    const auto lines = SplitLines(Out());
    if (lines.size() < 2) throw std::runtime_error("never READY: " + Err());
    EXPECT_TRUE(lines[0].starts_with("READY: jobs are taken on ")) << lines[0];
    constexpr std::string_view kBroker = " --broker ";
    EXPECT_NE(lines[1].find("/skerry run JOBS.jsonl --broker "), std::string::npos) << lines[1];
    return lines[1].substr(lines[1].find(kBroker) + kBroker.size());
  }
  std::string Out() { return ReadFile(dir_ / "out"); }
  std::string Err() { return ReadFile(dir_ / "err"); }
  pid_t ChildCalled(const std::string& name) {
    for (const pid_t pid : ChildrenOf(up_->pid())) {
      if (StatusField(pid, "Name") == name) return pid;
    }
    return -1;
  }
  static bool AllGone(const std::set<pid_t>& pids) {
    for (const pid_t pid : pids) {
      if (!IsGoneWithin(pid, milliseconds(3'000))) return false;
    }
    return true;
  }
  template <class Condition>
  static bool Eventually(Condition condition, milliseconds patience = milliseconds(15'000)) {
    for (const auto until = std::chrono::steady_clock::now() + patience;
         std::chrono::steady_clock::now() < until;) {
      if (condition()) return true;
      std::this_thread::sleep_for(milliseconds(20));
    }
    return false;
  }
  bool FolderIsEmpty() { return std::filesystem::is_empty(run_); }

  TempDir dir_;
  const std::filesystem::path run_ = dir_ / "run";
  Variable runtime_{"XDG_RUNTIME_DIR", run_};
  Variable no_config_{"SKERRY_CONFIG", ""};
  std::unique_ptr<Child> up_;
};

TEST_F(UpTest, ServesOnTheEndpointThatItPrintsAndLeavesNothingBehind) {
  Start({"--workers", "2"});
  const std::string endpoint = Ready();
  EXPECT_TRUE(endpoint.starts_with("ipc://" + run_.string() + "/skerry-")) << endpoint;
  const auto folder = std::filesystem::path(endpoint.substr(6)).parent_path();
  EXPECT_EQ(std::filesystem::status(folder).permissions(), std::filesystem::perms::owner_all);
  EXPECT_TRUE(IsOk(RunJobs({Job("a", "return 7")}, {.broker = endpoint}).At("a"), 7));
  const auto tree = TreeOf(up_->pid());
  EXPECT_GE(tree.size(), 4u);
  up_->Signal(SIGINT);
  EXPECT_EQ(up_->Wait(milliseconds(10'000)), 0) << Err();
  EXPECT_TRUE(AllGone(tree));
  EXPECT_TRUE(FolderIsEmpty());
}

TEST_F(UpTest, ASignalLetsRunningJobsFinish) {
  Start();
  const std::string endpoint = Ready();
  RunReport report;
  std::thread client([&] {
    report = RunJobs({Job("slow", "const t=Date.now(); while(Date.now()-t<1500); return 1")},
                     {.broker = endpoint});
  });
  std::this_thread::sleep_for(milliseconds(700));
  up_->Signal(SIGTERM);
  EXPECT_TRUE(Eventually([&] { return Err().find("draining") != std::string::npos; }));
  EXPECT_EQ(up_->Wait(milliseconds(10'000)), 0) << Err();
  client.join();
  EXPECT_TRUE(IsOk(report.At("slow"), 1));
}

TEST_F(UpTest, ASecondSignalEndsAtOnce) {
  Start();
  const std::string endpoint = Ready();
  const auto tree = TreeOf(up_->pid());
  Child client({Binary("skerry"), "run", "-", "--broker", endpoint}, {.stdin_path = [&] {
                 WriteFile(dir_ / "jobs", Job("for ever", "for(;;);").Line() + "\n");
                 return dir_ / "jobs";
               }()});
  std::this_thread::sleep_for(milliseconds(700));
  up_->Signal(SIGINT);
  EXPECT_TRUE(Eventually([&] { return Err().find("draining") != std::string::npos; }));
  EXPECT_TRUE(up_->IsRunning());
  up_->Signal(SIGINT);
  EXPECT_EQ(up_->Wait(milliseconds(5'000)), 130) << Err();
  EXPECT_TRUE(AllGone(tree));
  EXPECT_TRUE(FolderIsEmpty());
}

TEST_F(UpTest, AWorkerThatDiesIsStartedAgain) {
  Start();
  const std::string endpoint = Ready();
  const pid_t worker = ChildCalled("skerry-worker");
  ASSERT_GT(worker, 0);
  kill(worker, SIGKILL);
  EXPECT_TRUE(Eventually([&] {
    return Err().find("worker 1 was killed by signal 9; it is started again") != std::string::npos;
  }));
  EXPECT_TRUE(IsOk(RunJobs({Job("a", "return 8")}, {.broker = endpoint}).At("a"), 8));
  EXPECT_NE(ChildCalled("skerry-worker"), worker);
}

TEST_F(UpTest, EverythingEndsWithTheBroker) {
  const std::string endpoint = "ipc://" + (dir_ / "clients").string();
  Start({"--clients", endpoint});
  EXPECT_EQ(Ready(), endpoint);
  const auto tree = TreeOf(up_->pid());
  kill(ChildCalled("skerry-broker"), SIGKILL);
  EXPECT_EQ(up_->Wait(milliseconds(10'000)), 69);
  EXPECT_NE(Err().find("the broker was killed by signal 9; everything ends"), std::string::npos) << Err();
  EXPECT_TRUE(AllGone(tree));
  EXPECT_TRUE(FolderIsEmpty());
  EXPECT_FALSE(std::filesystem::exists(dir_ / "clients")) << "the killed broker's socket is left";
}

TEST_F(UpTest, ItsChildrenDoNotOutliveIt) {
  Start();
  Ready();
  const auto tree = TreeOf(up_->pid());
  up_->Signal(SIGKILL);
  EXPECT_EQ(up_->Wait(milliseconds(5'000)), -SIGKILL);
  EXPECT_TRUE(AllGone(tree));
}

TEST_F(UpTest, BrokerAndWorkersReadTheirTablesOfTheFile) {
  WriteFile(dir_ / "pool.toml", "[broker]\nclients = [\"ipc://" + (dir_ / "c").string() +
                                    "\"]\nallow_wasm = true\n[broker.ceilings]\ntimeoutMs = 5000\n"
                                    "[worker]\njit = \"none\"\n");
  Start({"--config", dir_ / "pool.toml", "--log-level", "debug"});
  const std::string endpoint = Ready();
  EXPECT_EQ(endpoint, "ipc://" + (dir_ / "c").string());
  const auto report = RunJobs(
      {Job("over", "return 1").Limit("timeoutMs", 5001), Job("at", "return 1").Limit("timeoutMs", 5000)},
      {.broker = endpoint});
  EXPECT_TRUE(IsError(report.At("over"), "VALIDATION", "timeoutMs"));
  EXPECT_TRUE(IsOk(report.At("at"), 1));
  EXPECT_NE(Err().find("pool.toml"), std::string::npos) << "the file that was read is not told";
}

TEST_F(UpTest, ItsFlagsGoBeforeTheFile) {
  WriteFile(dir_ / "pool.toml",
            "[broker.ceilings]\ntimeoutMs = 1000\n[worker]\nbroker = \"ipc:///elsewhere\"\n");
  Start({"--config", dir_ / "pool.toml", "--ceiling", "timeoutMs=2000"});
  const auto report = RunJobs({Job("a", "return 1").Limit("timeoutMs", 2000)}, {.broker = Ready()});
  EXPECT_TRUE(IsOk(report.At("a"), 1));
}

TEST_F(UpTest, AnEndpointThatIsServedAlreadyIsLeftAlone) {
  const std::string endpoint = "ipc://" + (dir_ / "clients").string();
  Start({"--clients", endpoint});
  Ready();
  const auto second = RunSkerry({"up", "--clients", endpoint});
  EXPECT_EQ(second.exit_code, 69);
  EXPECT_NE(second.err.find("is taken: a process listens there already"), std::string::npos) << second.err;
  EXPECT_TRUE(IsOk(RunJobs({Job("a", "return 1")}, {.broker = endpoint}).At("a"), 1));
}

TEST_F(UpTest, FaultsOfFlagsAreToldTogether) {
  const auto result = RunSkerry({"up", "--isolates", "0", "--jit", "turbo", "--clients", "tcp://10.0.0.1"});
  EXPECT_EQ(result.exit_code, 2);
  for (const char* fault :
       {"--isolates: must be", "--jit: must be", "--clients: endpoint 'tcp://10.0.0.1'"}) {
    EXPECT_NE(result.err.find(fault), std::string::npos) << result.err;
  }
  EXPECT_TRUE(FolderIsEmpty());
}

TEST_F(UpTest, WhatBrokerAndWorkersRefuseIsToldTogetherBeforeAnythingStarts) {
  WriteFile(dir_ / "pool.toml", "[broker]\npeer_timeout_ms = 100\n[worker]\nnonsense = 1\n");
  const auto result = RunSkerry({"up", "--config", dir_ / "pool.toml"});
  EXPECT_EQ(result.exit_code, 2);
  for (const char* line :
       {"pool.toml:2: broker.peer_timeout_ms must be", "pool.toml:4: unknown key worker.nonsense",
        "nothing was started: what skerry-broker and skerry-worker cannot take is above"}) {
    EXPECT_NE(result.err.find(line), std::string::npos) << result.err;
  }
  EXPECT_EQ(SplitLines(result.err).size(), 3u) << result.err;
  EXPECT_TRUE(result.out.empty());
  EXPECT_TRUE(FolderIsEmpty());
}

TEST_F(UpTest, FaultsOfFlagsTablesAndTenantsAreToldTogether) {
  WriteFile(dir_ / "tenants.toml", "[default]\nweigth = 1\n");
  WriteFile(dir_ / "pool.toml",
            "[broker]\ntenants = \"tenants.toml\"\nmax_queued = 0\n[worker]\nnonsense = 1\n");
  const auto result = RunSkerry({"up", "--config", dir_ / "pool.toml", "--isolates", "0"});
  EXPECT_EQ(result.exit_code, 2);
  for (const char* line :
       {"skerry: --isolates: must be", "pool.toml:3: broker.max_queued must be",
        "tenants.toml:2: ", "pool.toml:5: unknown key worker.nonsense", "nothing was started: "}) {
    EXPECT_NE(result.err.find(line), std::string::npos) << line << " is not in:\n" << result.err;
  }
}

TEST_F(UpTest, TakesTenantsAsAFlag) {
  WriteFile(dir_ / "tenants.toml", "[default.ceilings]\ntimeoutMs = 1000\n");
  Start({"--tenants", dir_ / "tenants.toml"});
  const auto report = RunJobs({Job("over", "return 1").Limit("timeoutMs", 1001)}, {.broker = Ready()});
  EXPECT_TRUE(IsError(report.At("over"), "VALIDATION", "timeoutMs"));
}

TEST_F(UpTest, LevelAndFormatOfLogsAreThoseOfAllProcesses) {
  Start({"--log-format", "json", "--log-level", "info"});
  Ready();
  for (const char* process :
       {R"("level":"info","process":"broker")", R"("level":"info","process":"worker")"}) {
    EXPECT_NE(Err().find(process), std::string::npos) << Err();
  }
  EXPECT_NE(Err().find(R"("message":"started; looking for the broker")"), std::string::npos) << Err();
}

TEST_F(UpTest, AWorkerThatCanNeverStartEndsEverythingWithItsReason) {
  const auto cell = dir_ / "skerry-cell";
  WriteFile(cell, "#!/bin/sh\necho no V8 today >&2\nexit 1\n");
  std::filesystem::permissions(cell, std::filesystem::perms::owner_all);
  const Variable broken("SKERRY_WORKER_CELL", cell);
  const auto result = RunSkerry({"up"});
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_NE(result.err.find("no V8 today"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("worker 1 exited with status 1 at its first start"), std::string::npos)
      << result.err;
  EXPECT_TRUE(result.out.empty()) << result.out;
  EXPECT_TRUE(FolderIsEmpty());
}

TEST_F(UpTest, IsNotReadyWhereNoJobOfTheDefaultSizeFits) {
  const auto result = RunSkerry({"up", "--isolates", "1", "--spares", "0", "--memory-mb", "200"});
  EXPECT_EQ(result.exit_code, 69);
  EXPECT_EQ(result.out.find("READY"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("not READY: the trial job, one with the default limits, ended with OVERLOADED"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("--ceiling memoryMb="), std::string::npos) << result.err;
  EXPECT_TRUE(FolderIsEmpty());
}

TEST_F(UpTest, IsReadyOnASmallWorkerWhoseJobsAreToldToBeSmall) {
  Start({"--memory-mb", "210", "--ceiling", "memoryMb=64"});
  EXPECT_TRUE(IsOk(RunJobs({Job("a", "return 1")}, {.broker = Ready()}).At("a"), 1));
}

TEST_F(UpTest, AWorkerThatRefusesItsVariablesEndsEverythingWithItsWords) {
  const Variable wrong("SKERRY_WORKER_ISOLATE", "3");
  const auto result = RunSkerry({"up"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("did you mean 'SKERRY_WORKER_ISOLATES'?"), std::string::npos) << result.err;
  EXPECT_TRUE(FolderIsEmpty());
}

}  // namespace
}  // namespace skerry::testing
