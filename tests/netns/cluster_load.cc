#include "tests/netns/cluster_load.h"

#include <algorithm>
#include <deque>
#include <random>
#include <thread>

#include "common/testing/proc_fs.h"
#include "tests/netns/cancelled_runs.h"
#include "tests/support/skerry_run.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kHold{100};  // of a watched job's host call
constexpr milliseconds kAskAgain{50};
constexpr std::uint64_t kWindow = 64;
constexpr std::uint64_t kCancelled = 4;  // at once
constexpr int kLinesPerFault = 25;       // it ends some ten a second
constexpr std::size_t kRunsAtLeast = 20;
constexpr milliseconds kBaseline{2'000};
constexpr milliseconds kOver{1'000};  // what a rate is taken over
constexpr double kIsBack = 0.5;       // of what it was at first
constexpr milliseconds kFlowsEvenSlowly{2'000};
constexpr milliseconds kLostRunsEndWithin{15'000};
constexpr milliseconds kGivenUp{60'000};
constexpr std::chrono::minutes kEnd{3};
constexpr int kFileClient = 3;

HostCallHandler AnswersAfter(milliseconds delay) {
  return [delay](const JobId&, std::string_view, std::string_view) {
    return HostReply{HostReply::Kind::kValue, "1", Millis(delay)};
  };
}

/// A client's key names its tenant, which is called as its machine is.
Job Holding(const std::string& id, int client) {
  return Job(id, "await dataProxy.request('hold'); return 1")
      .Limit("memoryMb", 32)
      .Tenant("client" + std::to_string(client));
}

/// What an infrastructure of which parts die may do to a job that made a host call.
bool IsTrue(const JobResult& result) {
  return result.ok() || (result.code() == "LOST" && result.Error("fault") == "infrastructure");
}

}  // namespace

ClusterLoad::ClusterLoad(int faults, milliseconds back_within)
    : lines_((faults + 2) * kLinesPerFault), back_within_(back_within) {
  StartLoads();
  MeasureBaseline();
}

ClusterLoad::~ClusterLoad() {
  for (const auto& load : watched_) load->Abandon();
  if (cancelled_) cancelled_->Abandon();
}

void ClusterLoad::StartLoads() {
  for (int client = 0; client < kWatched; ++client) {
    ClientOptions options = cluster_.ClientOf(client);
    options.on_call = AnswersAfter(kHold);
    const Network::Visit visit = cluster_.VisitClient(client);
    watched_.push_back(
        std::make_unique<Load>(std::move(options), Pace{.window = kWindow},
                               Endless("w" + std::to_string(client) + "-", Holding("", client))));
  }
  ClientOptions options = cluster_.ClientOf(2);
  options.on_call = AnswersAfter(kAskAgain);
  Pace pace{.window = kCancelled};
  pace.cancel_after = [random = std::mt19937_64(1)]() mutable { return Micros(50'000 + random() % 400'000); };
  const Job asks = Job("", "for (;;) await dataProxy.request('again')").Limit("maxDataRequests", 10'000);
  const Network::Visit visit = cluster_.VisitClient(2);
  cancelled_ = std::make_unique<Load>(std::move(options), std::move(pace),
                                      Endless("c-", Job(asks).Limit("memoryMb", 32).Tenant("client2")));
  std::string lines;
  for (int i = 0; i < lines_; ++i) lines += Holding("f" + std::to_string(i), kFileClient).Line() + "\n";
  WriteFile(dir_ / "jobs.jsonl", lines);
  WriteFile(dir_ / "data.json", R"({"hold":{"$value":1,"$delayMs":100}})");
  cluster_.RunOn(kFileClient, {dir_ / "jobs.jsonl", "-o", dir_ / "results.jsonl", "--resume", "--quiet",
                               "--data", dir_ / "data.json"});
}

std::array<std::size_t, ClusterLoad::kWatched> ClusterLoad::Finished() const {
  std::array<std::size_t, kWatched> finished{};
  for (int i = 0; i < kWatched; ++i) finished[i] = watched_[static_cast<std::size_t>(i)]->finished();
  return finished;
}

void ClusterLoad::MeasureBaseline() {
  for (const auto end = Clock::now() + kGivenUp; Clock::now() < end;) {
    const auto finished = Finished();
    if (*std::min_element(finished.begin(), finished.end()) > 0) break;
    std::this_thread::sleep_for(milliseconds(20));
  }
  const auto before = Finished();
  std::this_thread::sleep_for(kBaseline);
  const auto after = Finished();
  story_ << "a second, at first:";
  for (int i = 0; i < kWatched; ++i) {
    per_second_[i] =
        static_cast<double>(after[i] - before[i]) / std::chrono::duration<double>(kBaseline).count();
    story_ << " " << per_second_[i];
    ASSERT_GT(per_second_[i], 1) << "client" << i << "'s jobs do not flow\n" << cluster_.Story();
  }
}

std::optional<milliseconds> ClusterLoad::AwaitFlow() {
  struct Seen {
    Clock::time_point when;
    std::array<std::size_t, kWatched> finished;
  };
  const auto begin = Clock::now();
  std::deque<Seen> seen = {{begin, Finished()}};
  std::array<bool, kWatched> back{};
  while (Clock::now() < begin + kGivenUp) {
    std::this_thread::sleep_for(milliseconds(50));
    seen.push_back({Clock::now(), Finished()});
    const Seen& now = seen.back();
    while (seen.size() > 2 && now.when - seen[1].when >= kOver) seen.pop_front();
    const std::chrono::duration<double> over = now.when - seen.front().when;
    for (int i = 0; i < kWatched; ++i) {
      const auto ended = static_cast<double>(now.finished[i] - seen.front().finished[i]);
      // A whole second of it, or what would do for one already.
      back[i] = back[i] || ended >= kIsBack * per_second_[i] *
                                        std::max(over, std::chrono::duration<double>(kOver)).count();
    }
    if (std::all_of(back.begin(), back.end(), [](bool is) { return is; }))
      return std::chrono::duration_cast<milliseconds>(now.when - begin);
  }
  return std::nullopt;
}

void ClusterLoad::Strike(const testing::Strike& strike, milliseconds lasts) {
  story_ << "\n  " << kFaults[static_cast<int>(strike.fault)] << " " << strike.machine << " " << lasts.count()
         << " ms";
  const auto before = Finished();
  cluster_.Begin(strike);
  std::this_thread::sleep_for(lasts);
  if (strike.fault == Fault::kSlow && lasts >= kFlowsEvenSlowly) {
    for (int i = 0; i < kWatched; ++i)
      EXPECT_GT(Finished()[i], before[i]) << "a slow link is none" << Story();
  }
  cluster_.Heal(strike);
  ExpectFlow();
}

void ClusterLoad::StrikeForGood(const testing::Strike& strike) {
  story_ << "\n  " << kFaults[static_cast<int>(strike.fault)] << " " << strike.machine << " for good";
  cluster_.Begin(strike);
  ExpectFlow();
}

void ClusterLoad::ExpectFlow() {
  const auto took = AwaitFlow();
  ASSERT_TRUE(took) << "jobs do not flow again\n" << Story();
  story_ << ", back after " << took->count() << " ms";
  back_after_ms_.push_back(static_cast<double>(took->count()));
  EXPECT_LE(*took, back_within_) << Story();
}

void ClusterLoad::End() {
  for (const auto& load : watched_) load->Stop();
  cancelled_->Stop();
  CheckWatched();
  CheckCancelled();
  CheckFile();
  if (!back_after_ms_.empty()) {
    std::printf("%zu faults; jobs flowed again after %.0f ms (median), %.0f ms (at most)\n%s\n",
                back_after_ms_.size(), Quantile(back_after_ms_, 0.5), Quantile(back_after_ms_, 1),
                Story().c_str());
  }
}

void ClusterLoad::CheckWatched() {
  for (const auto& load : watched_) {
    for (const auto& [id, finished] : load->Join()) {
      ASSERT_TRUE(IsTrue(finished.result)) << Shown(finished.result) << Story();
    }
  }
}

// The workers' own logs say what ran: not the results, nor the broker.
void ClusterLoad::CheckCancelled() {
  const auto& finals = cancelled_->Join();
  int cancelled = 0;
  for (const auto& [id, finished] : finals) {
    const bool is = finished.result.code() == "CANCELLED";
    cancelled += is ? 1 : 0;
    ASSERT_TRUE(is || IsTrue(finished.result)) << Shown(finished.result) << Story();
  }
  EXPECT_GT(cancelled, 0);
  std::size_t runs = 0;
  for (int i = 0; i < Cluster::kWorkers; ++i) {
    const std::string worker = "worker" + std::to_string(i);
    for (const CancelledRun& run : RunsIn(ReadFile(cluster_.LogOf(worker)), "c-")) {
      const auto final = finals.find(run.job);
      ++runs;
      ASSERT_NE(final, finals.end()) << run.job << " ran, and nobody knows of it" << Story();
      EXPECT_LE(run.last_step, final->second.when + kLateness)
          << run.job << " did something after its final" << Story();
      // Who lost its broker gives up what that one knew of; the worker hears of it when it is connected
      // again.
      const milliseconds late = final->second.result.code() == "CANCELLED" ? kLateness : kLostRunsEndWithin;
      if (run.ended) {
        EXPECT_LE(*run.ended, final->second.when + late)
            << Shown(final->second.result) << " ended later" << Story();
      }
      EXPECT_TRUE(run.pid <= 0 || IsGoneWithin(run.pid, milliseconds(5'000)))
          << run.job << "'s isolate is still there";
    }
  }
  // Others were cancelled in the queue.
  EXPECT_GE(runs, kRunsAtLeast) << "the logs say too little";
  story_ << "\n  " << cancelled << " jobs cancelled, " << runs
         << " runs of them, none of which outlived its final";
}

void ClusterLoad::CheckFile() {
  const auto code = cluster_.ProgramOn("client" + std::to_string(kFileClient)).Wait(kEnd);
  ASSERT_TRUE(code) << "`skerry run` does not end" << Story() << cluster_.Story();
  EXPECT_TRUE(*code == 0 || *code == 1) << *code << Story();
  RunReport report;
  ReadResults(ReadFile(dir_ / "results.jsonl"), report);
  EXPECT_EQ(report.lines.size(), static_cast<std::size_t>(lines_)) << Story();
  for (int i = 0; i < lines_; ++i) {
    const std::string id = "f" + std::to_string(i);
    const auto count = report.counts.find(id);
    ASSERT_EQ(count == report.counts.end() ? 0 : count->second, 1) << "results of " << id << Story();
    EXPECT_TRUE(IsTrue(report.At(id))) << Shown(report.At(id)) << Story();
  }
}

std::string ClusterLoad::Story() const {
  return "\n" + story_.str();
}

}  // namespace skerry::testing
