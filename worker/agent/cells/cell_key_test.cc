#include "worker/agent/cells/cell_key.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace skerry::agent {
namespace {

const LibraryShelf& Shelf() {
  static const LibraryShelf shelf({{"a", "1"}, {"b", "2"}, {"ab", "3"}});
  return shelf;
}

JobPlan PlanOf(const std::function<void(wire::Dispatch&)>& change) {
  wire::Dispatch dispatch;
  dispatch.job.id = JobId("j");
  dispatch.job.tenant = TenantId("t");
  dispatch.job.user = UserId("u");
  dispatch.job.code_hash = std::string(32, 'h');
  dispatch.job.program = true;
  change(dispatch);
  auto planned = PlanJob(dispatch, {"return 1", "{}"}, 16'384, Shelf());
  return std::get<JobPlan>(planned);
}
std::string KeyOf(const std::function<void(JobSpec&)>& change) {
  return ProgramKey(PlanOf([&](wire::Dispatch& dispatch) { change(dispatch.job); }));
}

TEST(CellKey, OfAProgramDiffersWithEverythingThatItsEvaluationCanSee) {
  std::set<std::string> keys = {KeyOf([](JobSpec&) {})};
  const auto expect_another = [&](const char* what, const std::function<void(JobSpec&)>& change) {
    EXPECT_TRUE(keys.insert(KeyOf(change)).second) << what;
  };
  expect_another("tenant", [](JobSpec& job) { job.tenant = TenantId("t2"); });
  expect_another("code", [](JobSpec& job) { job.code_hash[31] = 'i'; });
  expect_another("script", [](JobSpec& job) { job.mode = Mode::kScript; });
  expect_another("module", [](JobSpec& job) { job.mode = Mode::kModule; });
  expect_another("wasm", [](JobSpec& job) { job.wasm = true; });
  expect_another("seed", [](JobSpec& job) { job.seed = 0; });
  expect_another("clock", [](JobSpec& job) { job.clock_ms = 0; });
  expect_another("both", [](JobSpec& job) { job.seed = job.clock_ms = 0; });
  expect_another("one library", [](JobSpec& job) { job.libraries = {"a"}; });
  expect_another("two libraries", [](JobSpec& job) { job.libraries = {"a", "b"}; });
  expect_another("another library", [](JobSpec& job) { job.libraries = {"ab"}; });
  for (const LimitSpec& spec : kLimitSpecs) {
    expect_another(spec.name.data(), [&](JobSpec& job) {
      job.limits = {{std::string(spec.name), spec.minimum + 8}};
    });
  }
}

TEST(CellKey, OfAProgramIsTheSameForWhoeverAsksAndWhateverItIsGiven) {
  const std::string key = KeyOf([](JobSpec&) {});
  EXPECT_EQ(key, ProgramKey(PlanOf([](wire::Dispatch& dispatch) {
              dispatch.lease = LeaseId(7);
              dispatch.attempt = 3;
              dispatch.job.id = JobId("k");
              dispatch.job.user = UserId("v");
              dispatch.job.priority = 5;
              dispatch.job.receipt = true;
              dispatch.job.retry = Retry::kNever;
              // The defaults, said aloud.
              dispatch.job.limits = {{"memoryMb", 256}};
            })));
}

TEST(CellKey, OfLibrariesDoesNotDependOnTheJobsOrder) {
  const auto key = [](std::vector<std::string> names) {
    return LibraryKey(PlanOf([&](wire::Dispatch& dispatch) { dispatch.job.libraries = names; }).libraries);
  };
  EXPECT_EQ(key({"a", "b"}), key({"b", "a"}));
  EXPECT_EQ(key({"a", "b"}), key({"a", "b", "a"}));
  EXPECT_NE(key({"a", "b"}), key({"ab"}));
}

}  // namespace
}  // namespace skerry::agent
