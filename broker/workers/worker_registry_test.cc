#include "broker/workers/worker_registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::WorkerPeer;

/// What the registry keeps, found out by looking at every worker.
class Scan {
 public:
  explicit Scan(WorkerRegistry& registry) : all_(registry.All()) {}

  static bool HasRoom(const Worker& worker, const Need& need) {
    return worker.accepting() && worker.kind().Serves(need) && worker.used_slots() < worker.credit().slots &&
           worker.used_memory_mb() + need.memory_mb <= worker.credit().memory_mb;
  }
  const Worker* PickFor(const Need& need) const {
    const Worker* best = nullptr;
    for (const Worker* worker : all_) {
      if (!HasRoom(*worker, need)) continue;
      if (best == nullptr || IsLessLoaded(*worker, *best)) best = worker;
    }
    return best;
  }
  static bool IsLessLoaded(const Worker& a, const Worker& b) {
    return a.used_slots() * b.credit().slots < b.used_slots() * a.credit().slots;
  }
  std::uint64_t LargestMemoryMb(const Need& need) const {
    std::uint64_t largest = 0;
    for (const Worker* worker : all_) {
      if (worker->accepting() && worker->kind().Serves(need))
        largest = std::max(largest, worker->full_memory_mb());
    }
    return largest;
  }
  bool AnyAccepting() const {
    return std::any_of(all_.begin(), all_.end(), [](const Worker* worker) { return worker->accepting(); });
  }
  bool AnyFreeSlotFor(const Need& need) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Worker* worker) {
      return worker->accepting() && worker->used_slots() < worker->credit().slots &&
             worker->kind().Serves(need);
    });
  }
  bool OneHasAll(const LibraryNames& libraries) const {
    return std::any_of(all_.begin(), all_.end(),
                       [&](const Worker* worker) { return HasAll(worker->kind().libraries, libraries); });
  }
  WorkerSums Sums() const {
    WorkerSums sums;
    for (const Worker* worker : all_) {
      ++sums.workers;
      sums.slots_used += worker->used_slots();
      sums.memory_promised_mb += worker->used_memory_mb();
      sums.spares += worker->stats().spares;
      sums.cells += worker->stats().cells;
      const auto& [slots, memory_mb] = worker->credit();
      if (!worker->accepting() || slots == 0) continue;
      ++sums.accepting;
      sums.slots_free += slots > worker->used_slots() ? slots - worker->used_slots() : 0;
      sums.memory_free_mb += memory_mb > worker->used_memory_mb() ? memory_mb - worker->used_memory_mb() : 0;
    }
    return sums;
  }

 private:
  std::vector<Worker*> all_;
};

/// Plays events of chance on a registry, as the broker's core would.
class Play {
 public:
  explicit Play(unsigned seed) : random_(seed) {}

  void Step() {
    const std::string name = "w" + std::to_string(random_() % 12);
    Worker* worker = registry_.Find(WorkerPeer(name));
    if (worker == nullptr) return Greet(name);
    switch (random_() % 10) {
      case 0:
        return Greet(name);
      case 1:
        return registry_.SetCredit(*worker, AnyCredit());
      case 2:
        (void)registry_.Advance(*worker,
                                random_() % 2 == 0 ? WorkerEvent::kDrain : WorkerEvent::kUnreachable);
        return;
      case 3:
        return Lose(*worker);
      case 4: {
        WorkerStats stats;
        stats.spares = random_() % 9;
        stats.cells = random_() % 3;
        return registry_.SetStats(*worker, stats);
      }
      case 5:
      case 6:
        return End();
      default:
        return Begin();
    }
  }
  WorkerRegistry& registry() { return registry_; }

 private:
  Credit AnyCredit() { return {random_() % 6, 100 + 100 * (random_() % 8)}; }
  WorkerKind AnyKind() {
    WorkerKind kind{static_cast<Skill>(random_() % 3), {}};
    if (kind.skill < Skill::kPrograms) return kind;
    for (const char* library : {"a", "b"}) {
      if (random_() % 2 == 0) kind.libraries.emplace_back(library);
    }
    return kind;
  }
  void Greet(const std::string& name) {
    Worker& worker = registry_.Connect(SessionId(name), WorkerPeer(name), TimePoint());
    registry_.Introduce(worker, {"1", "14", std::to_string(random_() % 3)}, AnyKind(), AnyCredit());
  }
  void Begin() {
    auto job = std::make_unique<Job>();
    job->memory_mb = static_cast<std::uint32_t>(50 * (random_() % 8));
    const WorkerKind wanted = AnyKind();
    Worker* worker = registry_.PickFor({job->memory_mb, wanted.skill, wanted.libraries});
    if (worker == nullptr) return;
    registry_.Take(*worker, *job, LeaseId(next_lease_++));
    jobs_.push_back(std::move(job));
  }
  void End() {
    if (jobs_.empty()) return;
    std::swap(jobs_[random_() % jobs_.size()], jobs_.back());
    registry_.Release(*jobs_.back());
    jobs_.pop_back();
  }
  void Lose(Worker& worker) {
    std::erase_if(jobs_, [&](const std::unique_ptr<Job>& job) {
      if (job->lease->worker != &worker) return false;
      registry_.Release(*job);
      return true;
    });
    (void)registry_.Advance(worker, WorkerEvent::kSilent);
    registry_.Erase(worker);
  }

  std::mt19937 random_;
  WorkerRegistry registry_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::uint64_t next_lease_ = 1;
};

TEST(WorkerRegistry, KnowsWhatALookAtEveryWorkerWouldTell) {
  Play play(3);
  WorkerRegistry& registry = play.registry();
  const LibraryNames a = {"a"}, both = {"b", "a"};
  std::vector<Need> needs;
  for (const std::uint64_t memory_mb : {0u, 100u, 350u}) {
    for (const Skill skill : {Skill::kPlain, Skill::kReproducible, Skill::kPrograms})
      needs.push_back({memory_mb, skill, {}});
    needs.push_back({memory_mb, Skill::kPrograms, a});
    needs.push_back({memory_mb, Skill::kPrograms, both});
  }
  for (int step = 0; step < 20'000; ++step) {
    play.Step();
    const Scan scan(registry);
    ASSERT_EQ(registry.Sums(), scan.Sums()) << step;
    ASSERT_EQ(registry.AnyAccepting(), scan.AnyAccepting()) << step;
    ASSERT_EQ(registry.AnyFreeSlot(), scan.AnyFreeSlotFor({})) << step;
    for (const LibraryNames& libraries : {LibraryNames{"a"}, LibraryNames{"b"}, LibraryNames{"b", "a"}})
      ASSERT_EQ(registry.OneHasAll(libraries), scan.OneHasAll(libraries)) << step;
    std::uint64_t built = 0;
    for (const auto& [build, count] : registry.Builds()) built += count;
    ASSERT_EQ(built, registry.size()) << step;
    for (const Need& need : needs) {
      ASSERT_EQ(registry.LargestMemoryMb(need), scan.LargestMemoryMb(need)) << step;
      ASSERT_EQ(registry.AnyFreeSlotFor(need), scan.AnyFreeSlotFor(need)) << step;
      const Worker* expected = scan.PickFor(need);
      const Worker* picked = registry.PickFor(need);
      ASSERT_EQ(picked == nullptr, expected == nullptr) << step;
      if (picked == nullptr) continue;
      ASSERT_TRUE(Scan::HasRoom(*picked, need)) << step;
      ASSERT_FALSE(Scan::IsLessLoaded(*expected, *picked)) << step;  // which of the equals, is its own affair
    }
  }
}

TEST(WorkerRegistry, GivesAReproducibleJobToTheLeastLoadedOfThoseThatKnowWhatItAsks) {
  WorkerRegistry registry;
  std::vector<Worker*> workers;
  for (const Skill skill : {Skill::kPlain, Skill::kReproducible, Skill::kReproducible}) {
    const std::string name = "w" + std::to_string(workers.size());
    workers.push_back(&registry.Connect(SessionId(name), WorkerPeer(name), TimePoint()));
    registry.Introduce(*workers.back(), {}, {skill, {}}, {2, 1024});
  }
  JobSpec spec;
  spec.seed = 0;
  Job first, second;
  registry.Take(*workers[1], first, LeaseId(1));
  EXPECT_EQ(registry.PickFor(NeedOf(spec)), workers[2]) << "w0 is as idle, and would pass over the seed";
  registry.Take(*workers[2], second, LeaseId(2));
  EXPECT_EQ(registry.PickFor(NeedOf(spec)), workers[1]);
  EXPECT_EQ(registry.PickFor(NeedOf(JobSpec())), workers[0]);
  registry.Introduce(*workers[0], {}, {Skill::kReproducible, {}}, {2, 1024});
  EXPECT_EQ(registry.PickFor(NeedOf(spec)), workers[0]) << "it was upgraded";
}

TEST(WorkerRegistry, GivesNoWorkerALargerJobThanOneCanBeThereHoweverMuchIsFree) {
  WorkerRegistry registry;
  Worker& small = registry.Connect(SessionId("a"), WorkerPeer("a"), TimePoint());
  Worker& large = registry.Connect(SessionId("b"), WorkerPeer("b"), TimePoint());
  registry.Introduce(small, {}, {}, {8, 4096}, 128);
  registry.Introduce(large, {}, {}, {8, 512});
  Need need;
  need.memory_mb = 128;
  EXPECT_EQ(registry.PickFor(need), &small);
  need.memory_mb = 129;
  EXPECT_EQ(registry.PickFor(need), &large);
  EXPECT_EQ(registry.LargestMemoryMb({}), 512u);
  registry.SetCredit(small, {8, 8192});
  EXPECT_EQ(registry.PickFor(need), &large) << "a CREDIT says nothing about one job";
  registry.Erase(large);
  EXPECT_EQ(registry.PickFor(need), nullptr);
  EXPECT_EQ(registry.LargestMemoryMb({}), 128u) << "so that it is refused, and does not wait for ever";
  need.memory_mb = 128;
  std::array<Job, 8> jobs;
  for (Job& job : jobs) {
    job.memory_mb = 128;
    ASSERT_EQ(registry.PickFor(need), &small) << "many of them at once all the same";
    registry.Take(small, job, LeaseId(static_cast<std::uint64_t>(&job - jobs.data()) + 1));
  }
}

TEST(WorkerRegistry, GivesJobsToEquallyLoadedWorkersInTurn) {
  WorkerRegistry registry;
  for (const std::string name : {"a", "b", "c"}) {
    Worker& worker = registry.Connect(SessionId(name), WorkerPeer(name), TimePoint());
    registry.Introduce(worker, {}, {}, {2, 1024});
  }
  std::string order;
  for (std::uint64_t i = 1; i <= 6; ++i) {
    Job job;
    Worker* worker = registry.PickFor({});
    ASSERT_NE(worker, nullptr);
    registry.Take(*worker, job, LeaseId(i));
    registry.Release(job);
    order += worker->session.str();
  }
  EXPECT_EQ(order, "abcabc");
}

TEST(WorkerRegistry, WorkersOfDifferentKindsTakeTurnsToo) {
  WorkerRegistry registry;
  for (const std::string name : {"a", "b", "c"}) {
    Worker& worker = registry.Connect(SessionId(name), WorkerPeer(name), TimePoint());
    registry.Introduce(worker, {}, {Skill::kPrograms, {name}}, {2, 1024});
  }
  std::string order;
  for (std::uint64_t i = 1; i <= 6; ++i) {
    Job job;
    Worker* worker = registry.PickFor({});
    ASSERT_NE(worker, nullptr);
    registry.Take(*worker, job, LeaseId(i));
    registry.Release(job);
    order += worker->session.str();
  }
  EXPECT_EQ(order, "abcabc");
}

TEST(WorkerRegistry, HasRoomForSoManyKindsAndNotForOneMore) {
  WorkerRegistry registry;
  const auto kind = [](std::size_t i) { return WorkerKind{Skill::kPrograms, {"l" + std::to_string(i)}}; };
  for (std::size_t i = 0; i < WorkerRegistry::kMaxKinds; ++i) {
    ASSERT_TRUE(registry.HasRoomFor(kind(i))) << i;
    const std::string name = "w" + std::to_string(i);
    registry.Introduce(registry.Connect(SessionId(name), WorkerPeer(name), TimePoint()), {}, kind(i), {});
  }
  EXPECT_TRUE(registry.HasRoomFor(kind(0)));
  EXPECT_FALSE(registry.HasRoomFor(kind(WorkerRegistry::kMaxKinds)));
  registry.Erase(*registry.Find(WorkerPeer("w3")));
  EXPECT_TRUE(registry.HasRoomFor(kind(WorkerRegistry::kMaxKinds)));
}

TEST(WorkerRegistry, RemembersTheLibrariesOfWorkersThatWentAway) {
  WorkerRegistry registry;
  Worker& worker = registry.Connect(SessionId("w"), WorkerPeer("w"), TimePoint());
  registry.Introduce(worker, {}, {Skill::kPrograms, {"a", "b"}}, {1, 1});
  registry.Erase(worker);
  const LibraryNames seen = {"b", "a"}, not_all = {"a", "c"};
  EXPECT_FALSE(registry.OneHasAll(seen));
  EXPECT_TRUE(registry.Libraries().empty());
  EXPECT_EQ(registry.NeverSeen(seen), nullptr);
  ASSERT_NE(registry.NeverSeen(not_all), nullptr);
  EXPECT_EQ(*registry.NeverSeen(not_all), "c");
}

}  // namespace
}  // namespace skerry::broker
