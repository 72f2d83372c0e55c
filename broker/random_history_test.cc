// Whatever clients and workers do, in whatever order, honest or not: every job gets exactly one final, credit
// holds, nobody dead is spoken to, nothing is mixed up, and memory is bounded.
//
// RC_PARAMS="max_success=10000" plays more; a failure shows the shortest history that still fails.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <random>

#include "broker/testing/core_harness.h"
#include "broker/testing/world.h"
#include "common/logging.h"

namespace skerry::broker {
namespace {

using testing::Act;
using testing::Step;
using testing::WorkerPeer;
using testing::World;

rc::Gen<Step> AnyStep() {
  const auto act = rc::gen::weightedElement<Act>({
      {3, Act::kPass},
      {8, Act::kSubmit},
      {1, Act::kCancel},
      {5, Act::kRead},
      {1, Act::kBreakClient},
      {1, Act::kAckNothing},
      {5, Act::kDeliver},
      {6, Act::kFinish},
      {3, Act::kEvent},
      {2, Act::kCall},
      {1, Act::kForgetCode},
      {1, Act::kCredit},
      {1, Act::kDrain},
      {1, Act::kBreakWorker},
      {1, Act::kKillWorker},
      {1, Act::kLie},
      {1, Act::kGarbage},
      {1, Act::kSilence},
  });
  return rc::gen::map(rc::gen::tuple(act, rc::gen::inRange(0u, World::kPeers), rc::gen::inRange(0u, 1'000u)),
                      [](const std::tuple<Act, unsigned, unsigned>& parts) {
                        return Step{std::get<0>(parts), std::get<1>(parts), std::get<2>(parts)};
                      });
}

RC_GTEST_PROP(RandomHistory, EveryJobGetsExactlyOneFinalWhateverHappens, ()) {
  const auto steps = *rc::gen::resize(400, rc::gen::container<std::vector<Step>>(AnyStep())).as("history");
  ASSERT_TRUE(InitLogging("broker", "off"));
  World world;
  for (const Step& step : steps) world.Play(step);
  world.Settle();
}

TEST(RandomHistory, NoWorkerEverHoldsMoreThanItsSlotsOrMemoryAtADispatch) {
  std::mt19937 random(7);
  WorkerRegistry workers;
  std::vector<std::unique_ptr<Job>> jobs;
  Worker& worker = workers.Connect(SessionId("w"), WorkerPeer("w"), TimePoint());
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t slots = random() % 6;
    workers.SetCredit(worker, {slots, random() % 1024});
    auto job = std::make_unique<Job>();
    job->memory_mb = static_cast<std::uint32_t>(8 + random() % 400);
    if (Worker* picked = workers.PickFor(NeedOf(*job))) {
      workers.Take(*picked, *job, LeaseId(static_cast<std::uint64_t>(i) + 1));
      ASSERT_LE(picked->used_slots(), picked->credit().slots);
      ASSERT_LE(picked->used_memory_mb(), picked->credit().memory_mb);
      jobs.push_back(std::move(job));
    }
    if (!jobs.empty() && random() % 2 == 0) {
      const std::size_t at = random() % jobs.size();
      workers.Release(*jobs[at]);
      jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(at));
    }
    std::uint64_t sum = 0;
    for (const auto& held : jobs) sum += held->memory_mb;
    ASSERT_EQ(worker.used_memory_mb(), sum);
    ASSERT_EQ(worker.used_slots(), jobs.size());
  }
}

}  // namespace
}  // namespace skerry::broker
