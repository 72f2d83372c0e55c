#include "broker/workers/worker_index.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "broker/workers/worker_registry.h"

namespace skerry::broker {
namespace {

using Room = WorkerIndex::Room;

bool IsLess(const Room& a, const Room& b) {
  return a.used * b.slots < b.used * a.slots;
}

TEST(WorkerIndex, GivesTheLeastLoadedOfThoseThatHaveTheMemory) {
  WorkerIndex index;
  Worker busy, idle, roomy;
  index.Add(busy, {.used = 3, .slots = 4, .free_mb = 100}, 1);
  const auto place = index.Add(idle, {.used = 1, .slots = 4, .free_mb = 100}, 2);
  index.Add(roomy, {.used = 2, .slots = 4, .free_mb = 500}, 3);
  EXPECT_EQ(index.LeastLoaded(0), &idle);
  EXPECT_EQ(index.LeastLoaded(100), &idle);
  EXPECT_EQ(index.LeastLoaded(101), &roomy);
  EXPECT_EQ(index.LeastLoaded(500), &roomy);
  EXPECT_EQ(index.LeastLoaded(501), nullptr);
  index.Remove(place);
  EXPECT_EQ(index.LeastLoaded(100), &roomy);
}

TEST(WorkerIndex, GivesNoneOfThoseWhoseMemoryIsOvercommitted) {
  WorkerIndex index;
  Worker worker;
  index.Add(worker, {.used = 1, .slots = 4, .free_mb = -1}, 1);
  EXPECT_FALSE(index.empty());
  EXPECT_EQ(index.LeastLoaded(0), nullptr);
}

TEST(WorkerIndex, EquallyLoadedWorkersTakeTurns) {
  WorkerIndex index;
  std::uint64_t turn = 1;
  std::vector<Worker> workers(5);
  std::map<const Worker*, WorkerIndex::Place> places;
  for (Worker& worker : workers) places[&worker] = index.Add(worker, {.slots = 2, .free_mb = 10}, turn++);
  for (int round = 0; round < 3; ++round) {
    for (Worker& expected : workers) {
      ASSERT_EQ(index.LeastLoaded(10), &expected);
      index.Remove(places[&expected]);
      places[&expected] = index.Add(expected, {.slots = 2, .free_mb = 10}, turn++);
    }
  }
}

/// A worker looked for by looking at each, as the index must find it.
struct Entry {
  WorkerIndex::Place place = WorkerIndex::kNowhere;
  Room room;
  std::uint64_t turn = 0;
};

const Worker* Scanned(const std::map<const Worker*, Entry>& entries, std::int64_t memory_mb) {
  const Worker* best = nullptr;
  for (const auto& [worker, entry] : entries) {
    if (entry.room.free_mb < memory_mb) continue;
    if (best == nullptr || IsLess(entry.room, entries.at(best).room) ||
        (!IsLess(entries.at(best).room, entry.room) && entry.turn < entries.at(best).turn)) {
      best = worker;
    }
  }
  return best;
}

TEST(WorkerIndex, AgreesWithALookAtEveryWorkerWhateverIsAddedAndRemoved) {
  std::mt19937 random(11);
  for (const std::size_t crowd : {2u, 40u, 300u}) {
    WorkerIndex index;
    std::vector<Worker> workers(crowd);
    std::map<const Worker*, Entry> entries;
    std::uint64_t turn = 0;
    for (int step = 0; step < 6'000; ++step) {
      Worker& worker = workers[random() % crowd];
      if (const auto found = entries.find(&worker); found != entries.end()) {
        index.Remove(found->second.place);
        entries.erase(found);
      }
      if (random() % 4 != 0) {
        Room room;
        room.slots = 1 + random() % 8;
        room.used = random() % room.slots;
        room.free_mb = static_cast<std::int64_t>(random() % 40) - 2;
        ++turn;
        entries[&worker] = {index.Add(worker, room, turn), room, turn};
      }
      const std::int64_t wanted = random() % 40;
      ASSERT_EQ(index.LeastLoaded(static_cast<std::uint64_t>(wanted)), Scanned(entries, wanted)) << step;
      ASSERT_EQ(index.empty(), entries.empty());
    }
  }
}

}  // namespace
}  // namespace skerry::broker
