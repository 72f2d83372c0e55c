// The bound on a bomb's memory, seen from outside the stack: the kernel's figures for its process, not the
// worker's.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "common/testing/proc_fs.h"
#include "tests/hostile/memory_kind.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

constexpr std::uint64_t kMemoryMb = 64;

std::uint64_t AnonymousBytes(pid_t pid) {
  return std::strtoull(StatusField(pid, "RssAnon").c_str(), nullptr, 10) * 1024;
}

// The most anonymous memory that any child of `worker`, beyond those in `idle`, has had while `work` ran.
template <class Work>
std::uint64_t MostSeen(pid_t worker, const std::set<pid_t>& idle, Work work) {
  std::atomic<bool> stop = false;
  std::uint64_t most = 0;
  std::thread watcher([&] {
    while (!stop) {
      for (const pid_t pid : ChildrenOf(worker)) {
        if (!idle.contains(pid)) most = std::max(most, AnonymousBytes(pid));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  work();
  stop = true;
  watcher.join();
  return most;
}

TEST(MemoryWitness, TheKernelSeesNoBombPastItsBudgetAndFortyMegabytes) {
  Pool pool({.isolates = 1, .spares = 0});
  ASSERT_TRUE(IsOk(pool.RunOne(Job("warm", "return 1")), Json(1))) << pool.Logs();
  const auto idle = ChildrenOf(pool.worker().pid());
  // The fork starts with the template's own anonymous pages; what the job adds comes on top.
  std::uint64_t inherited = 0;
  for (const pid_t pid : idle) inherited = std::max(inherited, AnonymousBytes(pid));
  ASSERT_GT(inherited, 0u);
  for (const auto& kind : MemoryKinds()) {
    const std::uint64_t most = MostSeen(pool.worker().pid(), idle, [&] {
      EXPECT_TRUE(IsError(pool.RunOne(BombJob(kind, kMemoryMb), {.patience = std::chrono::seconds(120)}),
                          "OOM", "memoryMb"));
    });
    EXPECT_LE(most, inherited + ((kMemoryMb + 40) << 20)) << kind.name;
    EXPECT_GE(most, (kMemoryMb / 2) << 20) << kind.name << ": the watch saw too little to mean anything";
  }
}

}  // namespace
}  // namespace skerry::testing
