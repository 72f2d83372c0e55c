// Isolates that run an attacker's native code (skerry-compromised-cell): what each attempt comes to behind
// every layer that a machine may have, and what lies on the socket come to. Worker, broker and neighbours
// stay well after each.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "common/testing/proc_fs.h"
#include "tests/hostile/compromised/ends.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

using compromised::kHarmlessRows;
using compromised::kKilled;
using compromised::kRows;
using compromised::Row;

constexpr const char* kSecret = "the-secret-of-another-tenant";

std::string EndOf(const JobResult& result) {
  if (result.ok())
    return result.value().is_string() ? result.value().get<std::string>() : result.value().dump();
  const std::string message = result.message();
  const std::string named = "forbidden system call ";
  if (result.code() != "CRASH" || message.find("SIGSYS") == std::string::npos)
    return result.code() + ": " + message;
  const auto at = message.find(named);
  return at == std::string::npos ? kKilled : "killed " + message.substr(at + named.size());
}

/// Whether this machine grants what `attempt` asks for; tried in a process of its own.
bool Grants(bool (*attempt)()) {
  const pid_t pid = fork();
  if (pid == 0) _exit(attempt() ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool GrantsNamespaces() {
  return Grants([] { return unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET) == 0; });
}

bool GrantsLandlock() {
  return Grants([] { return syscall(SYS_landlock_create_ruleset, nullptr, 0, 1u) >= 1; });
}

std::string ShiftedSecret() {
  std::string shifted = kSecret;
  for (char& byte : shifted) ++byte;
  return shifted;
}

class CompromisedIsolate : public ::testing::Test {
 protected:
  static PoolOptions Options(const std::string& sandbox, const std::vector<std::string>& prefix = {}) {
    PoolOptions options;
    options.isolates = 2;
    // All attempts are one tenant's, and nearly all are crashes.
    options.broker_args = {"--program-crashes", "0", "--tenant-crashes", "0"};
    options.worker_args = {"--cell", Binary("skerry-compromised-cell"), "--sandbox", sandbox, "--log-level",
                           "info"};
    options.worker_prefix = prefix;
    return options;
  }

  static Job Probe(const Pool& pool, const std::string& name, pid_t worker) {
    static_cast<void>(pool);
    return Job(name, name)
        .Set("input", Json{{"worker", worker}, {"secret", ShiftedSecret()}})
        .Set("retry", "never")
        .Limit("timeoutMs", 2000);
  }

  static std::map<std::string, std::string> EndsOf(Pool& pool, const std::vector<Row>& rows) {
    // Another job's value, in the worker and in an isolate of the same cell before any search for it.
    EXPECT_TRUE(IsOk(pool.RunOne(Job("first", "hello").Set("input", kSecret)), "hello")) << pool.Logs();
    const pid_t worker = pool.worker().pid();
    std::vector<Job> jobs;
    for (const Row& row : rows) jobs.push_back(Probe(pool, row.probe, worker));
    const RunReport report = pool.Run(jobs);
    std::map<std::string, std::string> ends;
    for (const Row& row : rows) ends[row.probe] = EndOf(report.At(row.probe));
    EXPECT_TRUE(pool.worker().IsRunning());
    EXPECT_TRUE(pool.broker().IsRunning());
    EXPECT_TRUE(IsOk(pool.RunOne(Job("neighbour", "hello")), "hello")) << pool.Logs();
    return ends;
  }

  static std::vector<Row> AllRows() {
    std::vector<Row> rows(std::begin(kRows), std::end(kRows));
    rows.insert(rows.end(), std::begin(kHarmlessRows), std::end(kHarmlessRows));
    return rows;
  }

  /// `others`: ends that differ from the strict ones because of what keeps calls from the worker itself.
  static void ExpectStrictEnds(Pool& pool, const std::map<std::string, std::string>& others = {}) {
    const auto ends = EndsOf(pool, AllRows());
    for (const Row& row : AllRows()) {
      const auto other = others.find(row.probe);
      EXPECT_EQ(ends.at(row.probe), other == others.end() ? row.strict : other->second) << row.probe;
    }
  }
};

TEST_F(CompromisedIsolate, GetsNowhereInAStrictSandbox) {
  Pool pool(Options("strict"));
  ExpectStrictEnds(pool);
  if (GrantsNamespaces()) {
    EXPECT_NE(pool.Logs().find("sandbox=\"namespaces+seccomp "), std::string::npos) << pool.Logs();
  }
}

TEST_F(CompromisedIsolate, GetsEverywhereWithoutASandboxSoThatTheProbesProveSomething) {
  if (!Grants([] { return unshare(CLONE_NEWNS) == 0; }))
    GTEST_SKIP() << "some attempts are anybody's, some only root's with all capabilities, which this is not";
  Pool pool(Options("off"));
  const auto ends = EndsOf(pool, AllRows());
  for (const Row& row : AllRows()) EXPECT_EQ(ends.at(row.probe), row.off) << row.probe;
}

TEST_F(CompromisedIsolate, GetsNowhereWhereAContainerProfileDeniesNamespaces) {
  Pool pool(Options("strict", {Binary("skerry-deny"), "unshare,clone3,mount,umount2,pivot_root,setns"}));
  // The container's own answer comes before ours.
  ExpectStrictEnds(pool, {{"mount", "EPERM"}, {"unshare", "EPERM"}, {"setns", "EPERM"}});
  if (GrantsLandlock()) {
    EXPECT_NE(pool.Logs().find("sandbox=\"landlock+seccomp "), std::string::npos) << pool.Logs();
  }
}

TEST_F(CompromisedIsolate, GetsNowhereWhereNothingButSeccompIsToBeHad) {
  Pool pool(Options("strict", {Binary("skerry-deny"),
                               "unshare,clone3,mount,umount2,pivot_root,setns,landlock_create_ruleset"}));
  ExpectStrictEnds(pool, {{"mount", "EPERM"}, {"unshare", "EPERM"}, {"setns", "EPERM"}});
  EXPECT_NE(pool.Logs().find("sandbox=\"seccomp "), std::string::npos) << pool.Logs();
}

TEST_F(CompromisedIsolate, GetsNowhereWhereTheWorkerIsAnOrdinaryUser) {
  if (geteuid() != 0) GTEST_SKIP() << "starting the worker as another user needs root";
  if (access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "needs setpriv (util-linux)";
  const bool reachable = Grants([] {
    return setgid(1000) == 0 && setuid(1000) == 0 && access(Binary("skerry-worker").c_str(), X_OK) == 0 &&
           access(Binary("skerry-init").c_str(), X_OK) == 0;
  });
  if (!reachable) GTEST_SKIP() << "another user cannot reach the build";
  auto options = Options("strict", {"/usr/bin/setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"});
  options.open_to_all = true;
  Pool pool(options);
  ExpectStrictEnds(pool);
  if (GrantsNamespaces()) {
    EXPECT_NE(pool.Logs().find("sandbox=\"namespaces+seccomp "), std::string::npos) << pool.Logs();
  }
}

TEST_F(CompromisedIsolate, MeetsTheOtherLayersWhereSeccompIsMissingAndThatWasAskedFor) {
  if (!GrantsNamespaces() || !GrantsLandlock())
    GTEST_SKIP() << "this machine grants no namespaces or no Landlock";
  Pool pool(Options("best-effort", {Binary("skerry-deny"), "seccomp"}));
  // No filter, so nothing is killed: files are gone with the root, the network with its namespace, others'
  // processes with theirs, and what needs a privilege has none.
  const std::vector<Row> rows = {
      {"open", "ENOENT", ""},       {"create-file", "ENOENT", ""},    {"connect", "EACCES", ""},
      {"kill-worker", "ESRCH", ""}, {"ptrace", "ESRCH", ""},          {"process-vm-readv", "ESRCH", ""},
      {"bpf", "EPERM", ""},         {"chroot", "EPERM", ""},          {"proc-self-mem", "ENOENT", ""},
      {"kill-init", "EPERM", ""},   {"raise-priority", "EACCES", ""}, {"real-time", "EPERM", ""}};
  const auto ends = EndsOf(pool, rows);
  for (const Row& row : rows) EXPECT_EQ(ends.at(row.probe), row.strict) << row.probe;
}

TEST_F(CompromisedIsolate, AStrictWorkerRefusesToStartWithoutSeccompAndSaysHowToGrantIt) {
  TempDir dir;
  Child worker({Binary("skerry-deny"), "seccomp", Binary("skerry-worker"), "--broker", "ipc:///tmp/none",
                "--isolates", "1", "--cell", Binary("skerry-compromised-cell")},
               {.stderr_path = dir / "log"});
  EXPECT_EQ(worker.Wait(std::chrono::seconds(20)), 1);
  const std::string log = ReadFile(dir / "log");
  EXPECT_NE(log.find("listed system calls only (needs seccomp filters"), std::string::npos) << log;
  EXPECT_NE(log.find("--sandbox=best-effort"), std::string::npos) << log;
  EXPECT_NE(log.find("likely to deny seccomp: allow it there"), std::string::npos) << log;
  EXPECT_NE(log.find("Operation not permitted"), std::string::npos) << log;
  EXPECT_EQ(log.find("does not know this kernel"), std::string::npos) << log;
}

TEST_F(CompromisedIsolate, AStrictWorkerToWhichPrctlIsDeniedSaysWhoIsLikelyToDenyIt) {
  TempDir dir;
  Child worker({Binary("skerry-deny"), "prctl", Binary("skerry-worker"), "--broker", "ipc:///tmp/none",
                "--isolates", "1", "--cell", Binary("skerry-compromised-cell")},
               {.stderr_path = dir / "log"});
  EXPECT_EQ(worker.Wait(std::chrono::seconds(20)), 1);
  const std::string log = ReadFile(dir / "log");
  EXPECT_NE(log.find("profile is likely to deny prctl: allow it there"), std::string::npos) << log;
}

class LyingIsolate : public CompromisedIsolate {
 protected:
  JobResult Tell(const std::string& lie, std::uint64_t timeout_ms = 300) {
    const JobResult result = pool_.RunOne(Job(lie, lie).Set("retry", "never").Limit("timeoutMs", timeout_ms),
                                          {.fixtures = Json{{"*", 1}}});
    EXPECT_TRUE(pool_.worker().IsRunning());
    EXPECT_TRUE(IsOk(pool_.RunOne(Job("neighbour", "hello")), "hello")) << pool_.Logs();
    return result;
  }

  Pool pool_{Options("strict")};
};

TEST_F(LyingIsolate, CannotEndOrSpeakForAnotherJob) {
  EXPECT_TRUE(IsOk(Tell("another-jobs-final"), "stolen"));  // its own value, of its own job
  const JobResult event = Tell("another-jobs-event");
  EXPECT_TRUE(IsOk(event, 1));
  EXPECT_EQ(event.ConsoleTexts().size(), 1u) << Shown(event);
}

TEST_F(LyingIsolate, ThatBreaksTheProtocolIsACrash) {
  for (const char* lie : {"oversized-frame", "truncated-frame", "not-a-message", "a-brokers-message",
                          "bad-json", "infrastructures-fault", "close-socket", "leave"}) {
    // Longer than the worker gives a process from closing its socket to its exit.
    const JobResult result = Tell(lie, 5000);
    EXPECT_TRUE(IsError(result, "CRASH")) << lie;
    EXPECT_EQ(result.Error("fault"), "program") << lie;
  }
}

TEST_F(LyingIsolate, ThatSaysNothingOrHalfAMessageIsATimeout) {
  EXPECT_TRUE(IsError(Tell("nothing"), "TIMEOUT", "timeoutMs"));
  EXPECT_TRUE(IsError(Tell("half-a-frame"), "TIMEOUT", "timeoutMs"));
}

TEST_F(LyingIsolate, IsHeldToItsFirstFinal) {
  EXPECT_TRUE(IsOk(Tell("second-final"), 1));
  const JobResult late = Tell("events-after-final");
  EXPECT_TRUE(IsOk(late, 1));
  EXPECT_TRUE(late.Events().empty()) << Shown(late);
}

TEST_F(LyingIsolate, CannotFloodTheWorker) {
  const JobResult small = Tell("endless-events");
  EXPECT_TRUE(IsError(small, "TIMEOUT", "timeoutMs"));
  EXPECT_GT(small.Usage("droppedEvents"), 1000) << Shown(small);
  const JobResult large = Tell("endless-large-events");
  EXPECT_TRUE(IsError(large, "TIMEOUT", "timeoutMs"));
  EXPECT_LE(large.Events().size(), 1000u);
  EXPECT_TRUE(IsError(Tell("endless-calls"), "CRASH"));
  EXPECT_LT(PeakResidentBytes(pool_.worker().pid()), 256u << 20);
}

}  // namespace
}  // namespace skerry::testing
