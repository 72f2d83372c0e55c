// SIGKILL, SIGSEGV and SIGSTOP of a stranger's to cells with libraries and with evaluated programs, and the
// deaths of the worker, the broker and the client, while cases and jobs run in them: each has one final,
// which is true and blames no program, and nothing is left behind.
//
// SKERRY_KILLS_SEED gives another schedule of the long one; a failure prints the one it had.
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <sstream>
#include <thread>

#include "common/testing/proc_fs.h"
#include "tests/support/cases_report.h"
#include "tests/support/pool_watch.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kCases = 300;  // of the first program; with the others 525 run
constexpr double kGrowth = 1.05;
constexpr double kBurst = 1 << 20;  // a run may have more under way at once than those before
constexpr std::size_t kDescriptorsOfOne = 6;
constexpr const char* kLodash = "lodash=" SKERRY_NODE_MODULES "/lodash/lodash.js";
constexpr const char* kBusy =
    "const work = (ms) => { for (const end = Date.now() + ms; Date.now() < end;); };\n";

/// Cases of a program, cases of one that has evaluated a library, and jobs with that library.
std::vector<Job> Lines(int cases, int work_ms) {
  const std::string work = "work(" + std::to_string(work_ms) + ");";
  std::vector<Job> lines;
  lines.push_back(Job("program", std::string(kBusy) + "let n = 0;\nexport default (x) => { " + work +
                                     " return [++n, x] }")
                      .Mode("module")
                      .Set("cases", Numbers(cases)));
  lines.push_back(Job("both", std::string(kBusy) + "const _ = require('lodash');\nlet n = 0;\n" +
                                  "export default (x) => { " + work + " return [++n, _.add(x, 1)] }")
                      .Mode("module")
                      .Set("libraries", {"lodash"})
                      .Set("cases", Numbers(cases / 2)));
  for (int i = 0; i < cases / 4; ++i) {
    lines.push_back(Job("library" + std::to_string(i),
                        std::string(kBusy) + work + "return require('lodash').add(input, 2)")
                        .Set("libraries", {"lodash"})
                        .Set("input", i));
  }
  return lines;
}

std::string Text(const std::vector<Job>& lines) {
  std::string text;
  for (const Job& line : lines) text += line.Line() + "\n";
  return text;
}

using Ends = std::map<std::string, int>;

/// Each one has one final, which is right or, where some may be, LOST.
Ends ExpectTheTruth(const RunReport& report, int cases) {
  Ends ends;
  const auto judge = [&ends](const JobResult& result, const Json& value) {
    ++ends[result.ok() ? "ok" : result.code()];
    if (result.ok()) {
      EXPECT_TRUE(IsOk(result, value));
    } else {
      EXPECT_EQ(result.code(), "LOST") << Shown(result);
      EXPECT_EQ(result.Error("fault"), "infrastructure") << Shown(result);
    }
  };
  const CasesReport program = CasesOf(report, "program");
  const CasesReport both = CasesOf(report, "both");
  EXPECT_EQ(program.cases.size(), static_cast<std::size_t>(cases));
  EXPECT_EQ(both.cases.size(), static_cast<std::size_t>(cases / 2));
  EXPECT_FALSE(program.summary.is_null());
  EXPECT_FALSE(both.summary.is_null());
  for (const auto& [number, result] : program.cases) judge(result, Json{1, number});
  for (const auto& [number, result] : both.cases) judge(result, Json{1, number + 1});
  for (int i = 0; i < cases / 4; ++i) {
    const std::string id = "library" + std::to_string(i);
    const auto count = report.counts.find(id);
    EXPECT_EQ(count == report.counts.end() ? 0 : count->second, 1) << id;
    judge(report.At(id), i + 2);
  }
  return ends;
}

PoolOptions Options(int workers) {
  return {.isolates = 4,
          .workers = workers,
          .broker_args = {"--heartbeat-ms", "100", "--peer-timeout-ms", "1000"},
          .worker_args = {"--log-level", "debug", "--library", kLodash}};
}

/// A `skerry run` that can be killed and resumed.
class ClientRun {
 public:
  ClientRun(Pool& pool, int cases, int work_ms) : pool_(pool), cases_(cases) {
    WriteFile(dir_ / "jobs", Text(Lines(cases, work_ms)));
    Start();
  }
  void Start() {
    client_ = std::make_unique<Child>(
        std::vector<std::string>{Binary("skerry"), "run", dir_ / "jobs", "-o", dir_ / "out", "--resume",
                                 "--quiet", "--broker", pool_.client_url()},
        ChildStreams{.stderr_path = dir_ / "stderr"});
  }
  void Kill() { client_.reset(); }
  bool IsRunning() { return client_->IsRunning(); }
  std::size_t results() const { return SplitLines(ReadFile(dir_ / "out")).size(); }
  void AwaitResults(std::size_t count) {
    const auto end = steady_clock::now() + std::chrono::seconds(20);
    while (results() < count && IsRunning() && steady_clock::now() < end)
      std::this_thread::sleep_for(milliseconds(5));
    ASSERT_GE(results(), count) << pool_.Logs();
    ASSERT_TRUE(IsRunning()) << "it was over before anything happened";
  }
  /// How many ended how.
  Ends Finish() {
    const auto code = client_->Wait(std::chrono::minutes(3));
    EXPECT_TRUE(code == 0 || code == 1) << ReadFile(dir_ / "stderr") << pool_.Logs();
    RunReport report;
    ReadResults(ReadFile(dir_ / "out"), report);
    return ExpectTheTruth(report, cases_);
  }

 private:
  Pool& pool_;
  const int cases_;
  TempDir dir_;
  std::unique_ptr<Child> client_;
};

Ends AllOk(int cases) {
  return {{"ok", cases + cases / 2 + cases / 4}};
}

/// Signals cells that are new since it looked last.
class CellKiller {
 public:
  explicit CellKiller(Pool& pool) : pool_(pool), seen_(pool.workers()) {}

  /// To how many it sent the signal.
  int SendToNewOnes(int signal, int at_most, std::size_t worker = 0) {
    const auto cells = DerivedCellsOf(pool_, worker);
    const auto children = ChildrenOf(pool_.worker(worker).pid());
    int sent = 0;
    for (std::size_t& at = seen_[worker]; at < cells.size(); ++at) {
      if (sent < at_most && children.contains(cells[at]) && kill(cells[at], signal) == 0) ++sent;
    }
    return sent;
  }

 private:
  Pool& pool_;
  std::vector<std::size_t> seen_;
};

class KeptCellKills : public ::testing::TestWithParam<int> {
 protected:
  int RunUnderSignals(int signal, int at_most) {
    int sent = 0;
    ClientRun run(pool_, kCases, 5);
    while (run.IsRunning()) {
      std::this_thread::sleep_for(milliseconds(40));  // so that some have forked already, and some have not
      sent += killer_.SendToNewOnes(signal, at_most - sent);
    }
    EXPECT_EQ(run.Finish(), AllOk(kCases));
    return sent;
  }
  /// Derived cells that are there at rest.
  std::size_t KeptNow() {
    const auto cells = DerivedCellsOf(pool_);
    const auto children = ChildrenOf(pool_.worker().pid());
    return static_cast<std::size_t>(
        std::count_if(cells.begin(), cells.end(), [&](pid_t pid) { return children.contains(pid); }));
  }
  static void ExpectNoGrowth(std::uint64_t before, std::uint64_t after) {
    EXPECT_LE(static_cast<double>(after), static_cast<double>(before) * kGrowth + kBurst);
  }

  Pool pool_{Options(1)};
  CellKiller killer_{pool_};
};

TEST_P(KeptCellKills, TouchNoCaseAndNoJobAndLeaveNothing) {
  constexpr int kMany = 1'000;
  EXPECT_GE(RunUnderSignals(SIGKILL, kMany), 3) << "too few were there to be signalled";
  const Resources before = AtRest(pool_);
  const std::size_t kept = KeptNow();
  const std::uint64_t broker = ResidentBytes(pool_.broker().pid());
  const std::uint64_t worker = ResidentBytes(pool_.worker().pid());
  // One that hangs is found out after 5 s.
  const int at_most = GetParam() == SIGSTOP ? 1 : kMany;
  EXPECT_GE(RunUnderSignals(GetParam(), at_most), std::min(at_most, 3));
  const Resources after = AtRest(pool_);
  EXPECT_LE(after.broker_descriptors, before.broker_descriptors);
  // How many are kept is chance: of the killed ones some are not wanted again.
  EXPECT_LE(after.processes + kept, before.processes + KeptNow());
  if (KeptNow() == kept) {
    EXPECT_LE(after.worker_descriptors, before.worker_descriptors);
  }
  EXPECT_LE(after.worker_descriptors, before.worker_descriptors + KeptNow() * kDescriptorsOfOne);
  for (const pid_t pid : ChildrenOf(pool_.worker().pid()))
    EXPECT_NE(StatusField(pid, "State").substr(0, 1), "Z") << pid;
  ExpectNoGrowth(broker, ResidentBytes(pool_.broker().pid()));
  ExpectNoGrowth(worker, ResidentBytes(pool_.worker().pid()));
}

INSTANTIATE_TEST_SUITE_P(Signals, KeptCellKills, ::testing::Values(SIGKILL, SIGSEGV, SIGSTOP),
                         [](const auto& info) { return std::string("SIG") + sigabbrev_np(info.param); });

TEST(KeptKills, AWorkersDeathCostsNoCaseItsResultAndLeavesNoProcess) {
  Pool pool(Options(2));
  ClientRun run(pool, kCases, 5);
  ASSERT_NO_FATAL_FAILURE(run.AwaitResults(100));
  // The other worker may have been quicker.
  const auto end = steady_clock::now() + std::chrono::seconds(20);
  while (DerivedCellsOf(pool, 0).empty() && run.IsRunning() && steady_clock::now() < end)
    std::this_thread::sleep_for(milliseconds(5));
  EXPECT_FALSE(DerivedCellsOf(pool, 0).empty());
  const auto tree = TreeOf(pool.worker(0).pid());
  pool.KillWorker(0);
  for (const pid_t pid : tree) EXPECT_TRUE(IsGoneWithin(pid, milliseconds(5'000)));
  pool.StartWorker(0);
  EXPECT_EQ(run.Finish(), AllOk(kCases));
}

TEST(KeptKills, ABrokersDeathCostsNoCaseItsResult) {
  Pool pool(Options(1));
  ClientRun run(pool, kCases, 5);
  ASSERT_NO_FATAL_FAILURE(run.AwaitResults(100));
  pool.RestartBroker();
  EXPECT_EQ(run.Finish(), AllOk(kCases));
}

TEST(KeptKills, AKilledClientIsResumedWithEachCaseOnce) {
  Pool pool(Options(1));
  ClientRun run(pool, kCases, 5);
  for (const std::size_t results : {50u, 300u}) {
    ASSERT_NO_FATAL_FAILURE(run.AwaitResults(results));
    run.Kill();
    run.Start();
  }
  EXPECT_EQ(run.Finish(), AllOk(kCases));
}

TEST(KeptKillsFull, EightyOfAllKindsLeaveEachCaseItsOneTrueResult) {
  constexpr int kKills = 80;
  constexpr milliseconds kClientAndBrokerApart{2'000};
  const char* text = std::getenv("SKERRY_KILLS_SEED");
  const std::uint64_t seed = text == nullptr ? 1 : std::strtoull(text, nullptr, 0);
  std::mt19937_64 random(seed);
  const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  Pool pool(Options(2));
  CellKiller killer(pool);
  std::ostringstream story;
  story << "SKERRY_KILLS_SEED=" << seed << ":";
  constexpr int kMany = 16'000;
  ClientRun run(pool, kMany, 5);
  auto last = steady_clock::now();
  int kills = 0;
  for (; kills < kKills && run.IsRunning(); ++kills) {
    std::this_thread::sleep_for(milliseconds(100 + below(300)));
    const std::size_t victim = below(10);
    const std::size_t worker = below(2);
    story << " " << victim << "@" << worker;
    if (victim < 2) std::this_thread::sleep_until(last + kClientAndBrokerApart);
    if (victim == 0) {
      run.Kill();
      run.Start();
    } else if (victim == 1) {
      pool.RestartBroker();
    } else if (victim < 4) {
      pool.KillWorker(worker);
      pool.StartWorker(worker);
    } else {
      constexpr std::array<int, 3> kSignals = {SIGKILL, SIGSEGV, SIGSTOP};
      killer.SendToNewOnes(kSignals[below(kSignals.size())], kKills, worker);
    }
    if (victim < 2) last = steady_clock::now();
  }
  EXPECT_EQ(kills, kKills) << "it did not last: the kills were not under load";
  const Ends ends = run.Finish();
  for (const auto& [end, count] : ends) std::printf("%s: %d\n", end.c_str(), count);
  EXPECT_TRUE(!::testing::Test::HasFailure()) << story.str();
}

}  // namespace
}  // namespace skerry::testing
