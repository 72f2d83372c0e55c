// Whatever clients and workers do, in whatever order: every accepted job gets exactly one final, and credit
// holds.
#include <map>
#include <random>
#include <set>

#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

constexpr int kClients = 3;
constexpr int kWorkers = 3;

/// Plays random events against a core and keeps its own books from the sends alone.
class History {
 public:
  explicit History(unsigned seed) : random_(seed), broker_(Config()) {
    for (int i = 0; i < kClients; ++i) broker_.ConnectClient(Name("c", i), Name("session", i));
  }

  void Play(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      Step();
      ReadSends();
    }
  }

  /// Lets everything end: workers finish all they have.
  void Settle() {
    for (int round = 0; round < 200; ++round) {
      for (int i = 0; i < kWorkers; ++i) {
        broker_.ConnectWorker(Name("w", i), 4, 4096, Name("worker session", i));
        slots_[Name("w", i)] = 4;
      }
      ReadSends();
      for (const auto& [lease, worker] : std::map(held_)) FinishLease(lease);
      ReadSends();
      if (held_.empty() && broker_.core.queued() == 0) break;
    }
    EXPECT_EQ(broker_.core.queued(), 0u);
    EXPECT_EQ(broker_.core.running(), 0u);
    for (const auto& job : accepted_) EXPECT_EQ(finals_[job].size(), 1u) << job.second;
    EXPECT_GT(accepted_.size(), 20u) << "the history was too dull to show anything";
  }

 private:
  using JobName = std::pair<std::string, std::string>;  // client link, id

  static BrokerConfig Config() {
    BrokerConfig config;
    config.max_queued = 8;
    config.client_credit = 8;
    return config;
  }
  static std::string Name(const char* kind, int i) { return kind + std::to_string(i); }
  unsigned Pick(unsigned n) { return random_() % n; }
  std::string SomeClient() { return Name("c", static_cast<int>(Pick(kClients))); }
  std::string SomeWorker() { return Name("w", static_cast<int>(Pick(kWorkers))); }

  void Step() {
    switch (Pick(12)) {
      case 0:
      case 1:
      case 2:
        SubmitSome();
        break;
      case 3: {
        const int i = static_cast<int>(Pick(kWorkers));
        const std::uint64_t slots = 1 + Pick(3);
        slots_[Name("w", i)] = slots;
        broker_.ConnectWorker(Name("w", i), slots, 4096, Name("worker session", i));
        break;
      }
      case 4:
        Forget(SomeWorker());
        break;
      case 5:
      case 6:
      case 7:
        if (!held_.empty())
          FinishLease(std::next(held_.begin(), Pick(static_cast<unsigned>(held_.size())))->first);
        break;
      case 8:
        if (!accepted_.empty()) {
          const auto job = *std::next(accepted_.begin(), Pick(static_cast<unsigned>(accepted_.size())));
          broker_.Say(ClientPeer(job.first), wire::Cancel{JobId(job.second), LeaseId()});
        }
        break;
      case 9:
        Pong();
        broker_.Pass(Millis(Pick(400)), {});
        break;
      case 10: {
        const std::string worker = SomeWorker();
        slots_[worker] = Pick(4);
        broker_.Say(WorkerPeer(worker), wire::Credit{slots_[worker], 4096});
        break;
      }
      case 11:
        broker_.FinishOk(WorkerPeer(SomeWorker()), LeaseId(Pick(1000)));  // often a lease that is not its own
        break;
    }
  }

  /// Only workers die here; clients stay, so that their finals can be counted.
  void Pong() {
    for (int i = 0; i < kClients; ++i) broker_.Say(ClientPeer(Name("c", i)), wire::Pong{});
    for (int i = 0; i < kWorkers; ++i) broker_.Say(WorkerPeer(Name("w", i)), wire::Pong{});
  }

  void SubmitSome() {
    JobSpec spec = CoreHarness::Spec("j" + std::to_string(next_id_++));
    spec.retry = static_cast<Retry>(Pick(3));
    spec.admission = static_cast<Admission>(Pick(2));
    if (Pick(3) == 0) spec.deadline_ms = 1 + Pick(500);
    broker_.Submit(SomeClient(), spec);
  }

  void FinishLease(std::uint64_t lease) {
    wire::Final final;
    final.lease = LeaseId(lease);
    final.ok = Pick(2) == 0;
    if (!final.ok)
      final.code = Pick(3) == 0 ? Code::kLost : Pick(2) == 0 ? Code::kOverloaded : Code::kRuntime;
    broker_.Say(WorkerPeer(held_.at(lease)), final, {"x"});
    held_.erase(lease);
  }

  void Forget(const std::string& worker) {
    broker_.Say(WorkerPeer(worker), wire::Bye{});
    std::erase_if(held_, [&](const auto& entry) { return entry.second == worker; });
  }

  void ReadSends() {
    for (const Send& send : broker_.sends) {
      if (const auto* accepted = std::get_if<wire::Accepted>(&send.header)) {
        accepted_.insert({send.peer.routing, accepted->id.str()});
      } else if (const auto* final = std::get_if<wire::Final>(&send.header)) {
        finals_[{send.peer.routing, final->id.str()}].push_back(final->ok);
      } else if (const auto* dispatch = std::get_if<wire::Dispatch>(&send.header)) {
        EXPECT_TRUE(held_.emplace(dispatch->lease.value(), send.peer.routing).second)
            << "a lease was given twice";
      }
    }
    broker_.Clear();
    EXPECT_LE(broker_.core.queued(), 8u + held_.size() + 16u);
    for (const auto& [job, finals] : finals_) EXPECT_LE(finals.size(), 1u) << job.second;
  }

  std::mt19937 random_;
  CoreHarness broker_;
  int next_id_ = 0;
  std::set<JobName> accepted_;
  std::map<JobName, std::vector<bool>> finals_;
  std::map<std::uint64_t, std::string> held_;  // lease -> worker link
  std::map<std::string, std::uint64_t> slots_;
};

TEST(RandomHistory, EveryAcceptedJobGetsExactlyOneFinalWhateverHappens) {
  for (unsigned seed = 1; seed <= 200 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    History history(seed);
    history.Play(400);
    history.Settle();
  }
}

TEST(RandomHistory, NoWorkerEverHoldsMoreThanItsSlotsOrMemoryAtADispatch) {
  std::mt19937 random(7);
  WorkerRegistry workers;
  std::vector<std::unique_ptr<Job>> jobs;
  Worker& worker = workers.Connect(SessionId("w"), WorkerPeer("w"), TimePoint());
  for (int i = 0; i < 20'000; ++i) {
    worker.slots = random() % 6;
    worker.memory_mb = random() % 1024;
    auto job = std::make_unique<Job>();
    job->spec.memory_mb = 8 + random() % 400;
    job->lease = LeaseId(static_cast<std::uint64_t>(i) + 1);
    if (Worker* picked = workers.PickFor(job->spec.memory_mb)) {
      workers.Take(*picked, *job);
      ASSERT_LE(picked->used_slots(), picked->slots);
      ASSERT_LE(picked->used_memory_mb, picked->memory_mb);
      jobs.push_back(std::move(job));
    }
    if (!jobs.empty() && random() % 2 == 0) {
      const std::size_t at = random() % jobs.size();
      workers.Release(*jobs[at]);
      jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(at));
    }
    std::uint64_t sum = 0;
    for (const auto& held : jobs) sum += held->spec.memory_mb;
    ASSERT_EQ(worker.used_memory_mb, sum);
    ASSERT_EQ(worker.used_slots(), jobs.size());
  }
}

}  // namespace
}  // namespace skerry::broker
