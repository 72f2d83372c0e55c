// The isolate of a running job as the kernel sees it, and V8's compilers. (What a hostile native program
// could try is tested beside the sandbox, in worker/cell.)
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "common/testing/proc_fs.h"
#include "tests/support/places.h"
#include "tests/support/pool_watch.h"

namespace skerry::testing {
namespace {

constexpr const char* kSpinHalfASecond = "const t=Date.now();while(Date.now()-t<500);return 'done'";

class Containment : public ::testing::Test {
 protected:
  // The process of a job that runs for as long as the test looks at it.
  pid_t isolate() { return *AwaitIsolates(pool_.worker().pid(), idle_, 1).begin(); }

  Pool pool_{{.isolates = 1, .spares = 0}};
  std::set<pid_t> idle_ = IdleChildren(pool_);
  Background run_{pool_, {Job("a", kSpinHalfASecond)}};
};

TEST_F(Containment, AnIsolateHasNoNewPrivilegesAFilterNoCapabilitiesAndOneThread) {
  const pid_t pid = isolate();
  EXPECT_EQ(StatusField(pid, "NoNewPrivs"), "1");
  EXPECT_EQ(StatusField(pid, "Seccomp"), "2");
  EXPECT_EQ(StatusField(pid, "Threads"), "1");
  EXPECT_EQ(StatusField(pid, "CapEff"), "0000000000000000");
  EXPECT_TRUE(IsOk(run_.Join().At("a"), "done"));
}

TEST_F(Containment, AnIsolatesParentIsTheWorkerThatReapsIt) {
  const pid_t pid = isolate();
  EXPECT_EQ(StatusField(pid, "PPid"), std::to_string(pool_.worker().pid()));
  run_.Join();
  EXPECT_TRUE(StatusField(pid, "State").empty()) << "it is a zombie, or alive";
}

TEST_F(Containment, AnIsolateHoldsNoFilesAndNoEnvironment) {
  if (geteuid() != 0) GTEST_SKIP() << "reading another process's descriptors needs root";
  const std::string folder = "/proc/" + std::to_string(isolate());
  int sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/fd")) {
    const std::string target = std::filesystem::read_symlink(entry.path());
    sockets += target.starts_with("socket:");
    EXPECT_TRUE(target == "/dev/null" || target.starts_with("socket:")) << target;
  }
  EXPECT_EQ(sockets, 1) << "its own, and neither its cell's nor its neighbours'";
  const std::string environment = ReadFile(folder + "/environ");
  for (const char* name : {"PATH=", "HOME=", "USER=", "SKERRY_", "LD_PRELOAD", "/"}) {
    EXPECT_EQ(environment.find(name), std::string::npos) << name;
  }
}

TEST(FairNeighbours, AnIsolateThatBurnsStepsBackAndOneThatWaitsDoesNot) {
  // A worker that is nice itself: what counts is the step from there.
  Pool pool({.isolates = 2, .spares = 0, .worker_prefix = {"/usr/bin/nice", "-n", "3"}});
  const auto idle = IdleChildren(pool);
  const int usual = NicenessOf(pool.worker().pid());
  Background waits(pool, {Job("waits", "return await dataProxy.request('w')")},
                   {.fixtures = Json{{"w", {{"$value", 1}, {"$delayMs", 3'000}}}}});
  auto known = AwaitIsolates(pool.worker().pid(), idle, 1);
  const pid_t waiting = *known.begin();
  known.insert(idle.begin(), idle.end());
  Background burns(pool, {Job("burns", "for(;;);").Limit("timeoutMs", 60'000).Limit("cpuMs", 400)});
  const pid_t burning = *AwaitIsolates(pool.worker().pid(), known, 1).begin();
  for (int i = 0; i < 2'000 && NicenessOf(burning) == usual && !IsGone(burning); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(NicenessOf(burning), std::min(usual + 10, 19));
  EXPECT_EQ(NicenessOf(waiting), usual);
  EXPECT_EQ(NicenessOf(pool.worker().pid()), usual);
  EXPECT_TRUE(IsError(burns.Join().At("burns"), "TIMEOUT", "cpuMs"));
  EXPECT_TRUE(IsOk(waits.Join().At("waits"), 1));
}

class Compilers : public ::testing::TestWithParam<const char*> {};

TEST_P(Compilers, EachRunsJobsAndEndsLoopsThatIgnoreInterrupts) {
  Pool pool({.worker_args = {"--jit", GetParam()}});
  const auto report = pool.Run(
      {Job("sum", "let s=0;for(let i=0;i<3e5;i++)s+=i%7;return [s,/a+b/.test('aaab'),await 1]"),
       Job("immune", "while(true){new Array(1000).fill(1.5)}").Limit("timeoutMs", 500),
       Job("bomb", "const a=[];while(true){a.push(new Array(1000).fill(1.5))}").Limit("memoryMb", 32)});
  EXPECT_TRUE(IsOk(report.At("sum"), Json{899'997, true, 1}));
  EXPECT_TRUE(IsError(report.At("immune"), "TIMEOUT", "timeoutMs"));
  EXPECT_TRUE(IsError(report.At("bomb"), "OOM", "memoryMb"));
}

INSTANTIATE_TEST_SUITE_P(All, Compilers, ::testing::Values("full", "maglev", "none"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace skerry::testing
