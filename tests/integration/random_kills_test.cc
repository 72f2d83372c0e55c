// SIGKILL and restart of client, broker, workers and cells at random, under load. The client is `skerry run
// --resume`, started again whenever it was killed. Whatever happens: every id has exactly one result, nothing
// ran more often than its `retry` allowed, and no innocent program is blamed.
//
// What ran is known from the workers' own debug logs (support/run_log.h), not from what the results claim.
//
// Client and broker never die within a second of each other: who loses both has lost what was sent, and
// --resume is then the word to run it again.
//
// SKERRY_KILLS_SEED gives another schedule; a failure prints the one it had.
#include <signal.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <thread>

#include "common/testing/proc_fs.h"
#include "tests/support/pool_watch.h"
#include "tests/support/run_log.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kWorkers = 2;
constexpr milliseconds kClientAndBrokerApart{1'000};
constexpr int kJobsPerKill = 180;  // more than ever end between two kills

enum class Victim : std::uint8_t { kClient, kBroker, kWorker, kCell, kNamespace };
constexpr std::array<const char*, 5> kVictims = {"client", "broker", "worker", "cell", "namespace"};

struct Kinds {
  std::string retry;
  bool calls;
};
Kinds KindOf(int job) {
  constexpr std::array<const char*, 3> kRetries = {"never", "safe", "always"};
  return {kRetries[static_cast<std::size_t>(job % 3)], job % 2 == 0};
}

std::string JobLines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    const Kinds kind = KindOf(i);
    const std::string code = kind.calls ? "await dataProxy.request('hold'); return input"
                                        : "const t=Date.now(); while(Date.now()-t<5); return input";
    lines += Job("j" + std::to_string(i), code).Set("input", i).Set("retry", kind.retry).Line() + "\n";
  }
  return lines;
}

class Havoc {
 public:
  Havoc(int kills, std::uint64_t seed, std::vector<Victim> victims)
      : kills_(kills), jobs_(kills * kJobsPerKill), victims_(std::move(victims)), random_(seed) {
    WriteFile(dir_ / "jobs.jsonl", JobLines(jobs_));
    WriteFile(dir_ / "data.json", R"({"hold":{"$value":1,"$delayMs":60}})");
    schedule_ << "SKERRY_KILLS_SEED=" << seed << ":";
    StartClient();
  }

  void Wreak() {
    for (int i = 0; i < kills_ && !::testing::Test::HasFatalFailure(); ++i) {
      Sleep(milliseconds(100 + Below(300)));
      if (client_ && !client_->IsRunning()) break;  // it has done all its jobs
      Kill(victims_[Below(victims_.size())]);
      ++killed_;
    }
  }

  void AwaitTheEnd() {
    const auto code = client_->Wait(std::chrono::minutes(6));
    ASSERT_TRUE(code) << "the run does not end: " << SplitLines(ReadFile(dir_ / "results.jsonl")).size()
                      << " results of " << jobs_ << "\n"
                      << Story();
    EXPECT_TRUE(*code == 0 || *code == 1) << *code << "\n" << Story();
    ReadResults(ReadFile(dir_ / "results.jsonl"), report_);
    for (std::size_t i = 0; i < kWorkers; ++i) ReadRunLog(ReadFile(pool_.worker_log(i)), log_);
  }

  void CheckEachIdHasOneResult() const {
    for (int i = 0; i < jobs_; ++i) {
      const auto count = report_.counts.find("j" + std::to_string(i));
      ASSERT_EQ(count == report_.counts.end() ? 0 : count->second, 1) << "results of j" << i << "\n"
                                                                      << Story();
    }
    EXPECT_EQ(report_.lines.size(), static_cast<std::size_t>(jobs_));
  }

  // What --resume ran again was the user's wish: its LOST line had been there to read.
  void CheckNothingRanTooOften() const {
    for (int i = 0; i < jobs_; ++i) {
      const std::string id = "j" + std::to_string(i);
      const std::size_t allowed = 1 + GivenBack(id);
      if (KindOf(i).retry == "never") {
        EXPECT_LE(RunsOf(log_, id), allowed) << Told(id);
      }
      // A second run must not ask the host what a first one was told already.
      if (KindOf(i).retry == "safe") {
        EXPECT_LE(AnsweredRunsOf(log_, id), allowed) << Told(id);
      }
    }
  }

  void CheckResultsAreTrue() const {
    for (int i = 0; i < jobs_; ++i) {
      const std::string id = "j" + std::to_string(i);
      const JobResult& result = report_.At(id);
      if (result.ok()) {
        EXPECT_TRUE(IsOk(result, i)) << Told(id);
        EXPECT_TRUE(HasRun(id, result.Field("attempt"))) << Told(id);
        continue;
      }
      EXPECT_EQ(result.code(), "LOST") << Told(id);
      EXPECT_EQ(result.Error("fault"), "infrastructure") << Told(id);
      EXPECT_EQ(result.Error("retryable"), true) << Told(id);
      if (result.Error("started") == false) {
        EXPECT_LE(RunsOf(log_, id), GivenBack(id)) << Told(id);
      }
    }
  }

  void CheckNothingIsLeftBehind() {
    for (std::size_t i = 0; i < kWorkers; ++i) {
      EXPECT_TRUE(pool_.worker(i).IsRunning()) << "worker " << i << " has left\n" << Story();
      for (const pid_t child : ChildrenOf(pool_.worker(i).pid())) {
        const auto name = StatusField(child, "Name");
        for (int patience = 0; patience < 200 && StatusField(child, "State")[0] == 'Z'; ++patience)
          Sleep(milliseconds(10));
        EXPECT_NE(StatusField(child, "State").substr(0, 1), "Z") << "a zombie " << name << "\n" << Story();
      }
    }
  }

  int killed() const { return killed_; }
  std::size_t lost() const {
    std::size_t count = 0;
    for (const auto& [id, result] : report_.results) count += result.ok() ? 0 : 1;
    return count;
  }
  std::string Story() const { return schedule_.str(); }

 private:
  std::size_t Below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  static void Sleep(milliseconds time) { std::this_thread::sleep_for(time); }

  void Kill(Victim victim) {
    const milliseconds pause(Below(200));
    const std::size_t worker = Below(kWorkers);
    schedule_ << " " << kVictims[static_cast<std::size_t>(victim)];
    if (victim == Victim::kClient || victim == Victim::kBroker)
      std::this_thread::sleep_until(last_end_ + kClientAndBrokerApart);
    switch (victim) {
      case Victim::kClient:
        client_->Signal(SIGKILL);
        client_.reset();
        Sleep(pause);
        NoteWhatIsGivenBack();
        AwaitGreetingAfter([this] { StartClient(); });
        break;
      case Victim::kBroker:
        pool_.KillBroker();
        Sleep(pause);
        AwaitGreetingAfter([this] { pool_.StartBroker(); });
        break;
      case Victim::kWorker:
        schedule_ << worker;
        pool_.KillWorker(worker);
        Sleep(pause);
        pool_.StartWorker(worker);
        break;
      case Victim::kCell:
      case Victim::kNamespace:
        schedule_ << worker;
        KillCell(worker, victim);
        break;
    }
    if (victim == Victim::kClient || victim == Victim::kBroker) last_end_ = steady_clock::now();
  }

  // Client and broker are apart only once they have found each other again; on a busy machine that takes a
  // while.
  void AwaitGreetingAfter(const std::function<void()>& start) {
    const auto greetings = [this] {
      std::size_t count = 0;
      for (const std::string& line : SplitLines(ReadFile(pool_.broker_log()))) {
        const bool greeted = line.find("client connected") != std::string::npos ||
                             line.find("client is back") != std::string::npos;
        count += greeted ? 1 : 0;
      }
      return count;
    };
    const std::size_t before = greetings();
    start();
    const auto end = steady_clock::now() + std::chrono::seconds(20);
    while (greetings() == before && client_->IsRunning() && steady_clock::now() < end)
      Sleep(milliseconds(10));
    ASSERT_LT(steady_clock::now(), end) << "client and broker do not find each other\n" << Story();
  }

  // The cell is known by its log line; its init stub is the only child that is PID 1 somewhere.
  void KillCell(std::size_t worker, Victim victim) {
    if (victim == Victim::kNamespace) {
      for (const pid_t child : ChildrenOf(pool_.worker(worker).pid())) {
        if (StatusField(child, "NSpid").ends_with("\t1")) kill(child, SIGKILL);
      }
      return;
    }
    if (const pid_t cell = NewestCellOf(pool_, worker); cell > 0) kill(cell, SIGKILL);
  }

  void StartClient() {
    client_ = std::make_unique<Child>(
        std::vector<std::string>{Binary("skerry"), "run", dir_ / "jobs.jsonl", "-o", dir_ / "results.jsonl",
                                 "--resume", "--quiet", "--broker", pool_.client_url(), "--data",
                                 dir_ / "data.json"},
        ChildStreams{.stderr_path = dir_ / "stderr"});
  }

  void NoteWhatIsGivenBack() {
    for (const std::string& line : SplitLines(ReadFile(dir_ / "results.jsonl"))) {
      if (line.find(R"("fault":"infrastructure")") == std::string::npos) continue;
      if (const auto json = ParseJson(line)) ++given_back_[json->at("id").get<std::string>()];
    }
  }

  std::size_t GivenBack(const std::string& id) const {
    const auto found = given_back_.find(id);
    return found == given_back_.end() ? 0 : found->second;
  }
  bool HasRun(const std::string& id, const Json& attempt) const {
    const auto runs = log_.find(id);
    if (runs == log_.end()) return false;
    for (const ObservedRun& run : runs->second) {
      if (run.MayHaveRun() && attempt == run.attempt) return true;
    }
    return false;
  }
  std::string Told(const std::string& id) const {
    std::ostringstream told;
    told << Shown(report_.At(id)) << "\nits runs:";
    if (const auto runs = log_.find(id); runs != log_.end()) {
      for (const ObservedRun& run : runs->second)
        told << " attempt " << run.attempt
             << (run.started ? " started"
                 : run.open  ? " open"
                             : " failed")
             << (run.answered ? " answered;" : ";");
    }
    told << " given back " << GivenBack(id) << " times\n" << Story();
    return told.str();
  }

  const int kills_;
  const int jobs_;
  const std::vector<Victim> victims_;
  std::mt19937_64 random_;
  int killed_ = 0;
  TempDir dir_;
  Pool pool_{{.isolates = 4,
              .workers = kWorkers,
              .broker_args = {"--heartbeat-ms", "100", "--peer-timeout-ms", "500"},
              .worker_args = {"--log-level", "debug"}}};
  std::unique_ptr<Child> client_;
  steady_clock::time_point last_end_ = steady_clock::now();
  std::ostringstream schedule_;
  std::map<std::string, std::size_t> given_back_;
  RunReport report_;
  RunLog log_;
};

std::uint64_t Seed() {
  const char* text = std::getenv("SKERRY_KILLS_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 0);
}

const std::vector<Victim> kAnybody = {Victim::kClient, Victim::kBroker, Victim::kWorker, Victim::kCell,
                                      Victim::kNamespace};
// A broker's death gives all `never` jobs back that it had, run or not; without it, only what died with a
// worker is ever allowed a second run.
const std::vector<Victim> kAnybodyButTheBroker = {Victim::kClient, Victim::kWorker, Victim::kCell,
                                                  Victim::kNamespace};

void LiveThrough(int kills, const std::vector<Victim>& victims) {
  Havoc havoc(kills, Seed(), victims);
  havoc.Wreak();
  ASSERT_NO_FATAL_FAILURE(havoc.AwaitTheEnd());
  EXPECT_EQ(havoc.killed(), kills) << "the jobs did not last: the kills were not under load";
  ASSERT_NO_FATAL_FAILURE(havoc.CheckEachIdHasOneResult());
  havoc.CheckNothingRanTooOften();
  havoc.CheckResultsAreTrue();
  havoc.CheckNothingIsLeftBehind();
  ::testing::Test::RecordProperty("lost", static_cast<int>(havoc.lost()));
}

TEST(RandomKills, TwentyLeaveEveryIdItsOneTrueResult) {
  LiveThrough(20, kAnybody);
}

TEST(RandomKills, TwentyThatSpareTheBrokerLeaveEveryIdItsOneTrueResult) {
  LiveThrough(20, kAnybodyButTheBroker);
}

TEST(RandomKillsFull, TwoHundredLeaveEveryIdItsOneTrueResult) {
  LiveThrough(200, kAnybody);
}

TEST(RandomKillsFull, AHundredThatSpareTheBrokerLeaveEveryIdItsOneTrueResult) {
  LiveThrough(100, kAnybodyButTheBroker);
}

}  // namespace
}  // namespace skerry::testing
