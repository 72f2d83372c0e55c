// Cells that are forked from cells: with libraries, with a tenant's program. What a hostile one can do is
// tests/hostile/compromised_program_cell_test.cc's.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>

#include "common/testing/proc_fs.h"
#include "common/units.h"
#include "worker/cell/testing/real_cell.h"
#include "worker/engine/unkeepable.h"

namespace skerry::cell {
namespace {

using namespace testing;
using skerry::testing::ChildrenOf;
using skerry::testing::IsGoneWithin;
using skerry::testing::StatusField;

std::string PackageFile(const std::string& path) {
  std::ifstream file(SKERRY_NODE_MODULES "/" + path);
  EXPECT_TRUE(file) << path << ": run ./dev setup";
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

CellRecipe WithLibraries(const std::vector<std::pair<std::string, std::string>>& libraries) {
  CellRecipe recipe;
  for (const auto& [name, code] : libraries)
    recipe.libraries.push_back(std::make_shared<Library>(Library{name, code}));
  return recipe;
}

CellRecipe WithProgram(Mode mode, std::string code, RequestedLimits limits = {}) {
  CellProgram program;
  program.job.mode = mode;
  program.job.limits = std::move(limits);
  program.code = std::move(code);
  CellRecipe recipe;
  recipe.program = std::move(program);
  return recipe;
}

/// The cell before it has its recipe; null where there is none.
std::unique_ptr<CellProcess> Derive(CellProcess& from, const CellRecipe& recipe) {
  const Status asked = from.RequestCell(recipe);
  EXPECT_TRUE(asked) << asked.error().message;
  EXPECT_TRUE(Readable(from.control_fd()));
  auto forked = from.OnReadable();
  EXPECT_TRUE(forked && *forked);
  if (!forked || !*forked) return nullptr;
  return std::move(std::get<std::unique_ptr<CellProcess>>(**forked));
}

/// How it becomes ready: empty, or the error.
std::string Await(CellProcess& cell) {
  while (!cell.is_ready()) {
    if (!Readable(cell.control_fd())) return "it says nothing";
    if (const auto nothing = cell.OnReadable(); !nothing) return nothing.error().message;
  }
  return "";
}

std::unique_ptr<CellProcess> MakeReady(CellProcess& from, const CellRecipe& recipe) {
  auto cell = Derive(from, recipe);
  if (!cell) return nullptr;
  EXPECT_TRUE(cell->SendRecipe());
  EXPECT_EQ(Await(*cell), "");
  return cell->is_ready() ? std::move(cell) : nullptr;
}

class DerivedCell : public ::testing::Test {
 protected:
  void SetUp() override {
    base_ = StartCell();
    ASSERT_TRUE(base_);
    listener_ = base_->TakeForbiddenCalls();
    if (!CanHoldPrograms(base_->sandbox())) GTEST_SKIP() << "this machine's sandbox keeps no programs";
  }

  Outcome Run(CellProcess& cell, std::string_view code, std::string_view input = "") {
    const IsolateProcess isolate = Fork(cell, listener_.get());
    SendJob(isolate, code, input);
    Outcome outcome = AwaitOutcome(isolate);
    EXPECT_EQ(Reap(isolate), 0);
    return outcome;
  }
  /// How a cell of this recipe becomes ready.
  std::string EndOf(const CellRecipe& recipe) {
    auto cell = Derive(*base_, recipe);
    if (!cell) return "no cell";
    EXPECT_TRUE(cell->SendRecipe());
    return Await(*cell);
  }

  std::unique_ptr<CellProcess> base_;
  Fd listener_;
};

std::string NotKept(engine::Unkeepable reason) {
  return "the program cannot be kept evaluated: " + std::string(NameOf(reason));
}

TEST_F(DerivedCell, WithLibrariesGivesThemToItsIsolatesAndTheBaseCellDoesNot) {
  auto cell = MakeReady(*base_, WithLibraries({{"lodash", PackageFile("lodash/lodash.js")},
                                               {"md5", PackageFile("js-md5/src/md5.js")}}));
  ASSERT_TRUE(cell);
  EXPECT_EQ(
      Run(*cell, "return require('lodash').camelCase('some text') + require('md5')('abc').length").value,
      "\"someText32\"");
  EXPECT_EQ(Run(*base_, "return typeof require").value, "\"undefined\"");
}

TEST_F(DerivedCell, WithAProgramRunsItOnTheInputOfEachIsolate) {
  auto cell = MakeReady(*base_, WithProgram(Mode::kModule, "let n = 40; export default (i) => (n += i.x)"));
  ASSERT_TRUE(cell);
  EXPECT_EQ(Run(*cell, "", R"({"x":2})").value, "42");
  EXPECT_EQ(Run(*cell, "", R"({"x":3})").value, "43") << "each starts from the same state";
  EXPECT_EQ(Run(*base_, "return 1").value, "1");
}

TEST_F(DerivedCell, WithAProgramComesFromTheOneWithItsLibraries) {
  auto libraries = MakeReady(*base_, WithLibraries({{"lib", "exports.double = (x) => 2 * x"}}));
  ASSERT_TRUE(libraries);
  auto program = MakeReady(*libraries, WithProgram(Mode::kFunction, "return require('lib').double(input)"));
  ASSERT_TRUE(program);
  EXPECT_EQ(Run(*program, "", "21").value, "42");
  EXPECT_EQ(Run(*libraries, "return require('lib').double(4)").value, "8");
}

TEST_F(DerivedCell, WhoseProgramCannotBeKeptSaysWhy) {
  EXPECT_EQ(EndOf(WithProgram(Mode::kModule, "const x = input; export default 1")),
            NotKept(engine::Unkeepable::kTouchesInput));
  EXPECT_EQ(EndOf(WithProgram(Mode::kFunction, "return )")), NotKept(engine::Unkeepable::kFails));
  EXPECT_EQ(EndOf(WithProgram(Mode::kModule, "console.log(1)")), NotKept(engine::Unkeepable::kReports));
  EXPECT_EQ(Run(*base_, "return 1").value, "1");
}

TEST_F(DerivedCell, WhoseLibraryFailsSaysWhichAndHow) {
  EXPECT_EQ(EndOf(WithLibraries({{"good", ""}, {"bad", "\nthrow new Error('mine')"}})),
            "library 'bad' cannot be loaded: Error: mine (bad:2:1)");
}

TEST_F(DerivedCell, ThatRunsOutOfMemoryWhileItEvaluatesEnds) {
  auto cell =
      Derive(*base_, WithProgram(Mode::kModule, "const a = []; for (;;) a.push(new Array(1000).fill(1.5))",
                                 {{"memoryMb", 16}}));
  ASSERT_TRUE(cell);
  const pid_t pid = cell->pid();
  const rlimit data{200u << 20, 200u << 20};
  ASSERT_EQ(prlimit(pid, RLIMIT_DATA, &data, nullptr), 0);
  ASSERT_TRUE(cell->SendRecipe());
  EXPECT_TRUE(Await(*cell).starts_with("the cell ended before it was ready"));
  cell.reset();
  EXPECT_TRUE(IsGoneWithin(pid, Millis(2000)));
  EXPECT_EQ(Run(*base_, "return 1").value, "1");
}

TEST_F(DerivedCell, ThatEvaluatesForEverIsTheWorkersToKill) {
  auto cell = Derive(*base_, WithProgram(Mode::kModule, "for (;;);"));
  ASSERT_TRUE(cell);
  ASSERT_TRUE(cell->SendRecipe());
  const pid_t pid = cell->pid();
  cell.reset();
  EXPECT_TRUE(IsGoneWithin(pid, Millis(2000)));
}

TEST_F(DerivedCell, ThatGetsNoRecipeEndsWithTheWorkersEndOfItsSocket) {
  auto cell = Derive(*base_, WithProgram(Mode::kFunction, "return 1"));
  ASSERT_TRUE(cell);
  const pid_t pid = cell->pid();
  cell.reset();
  EXPECT_TRUE(IsGoneWithin(pid, Millis(2000)));
}

TEST_F(DerivedCell, ThatNobodyHasCollectedEndsWithItsBase) {
  ASSERT_TRUE(base_->RequestCell(WithProgram(Mode::kFunction, "return 1")));
  ASSERT_TRUE(Readable(base_->control_fd()));
  base_.reset();
  siginfo_t info{};
  EXPECT_LT(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), 0);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(DerivedCell, ItsIsolatesOutliveItAndItsBase) {
  auto cell = MakeReady(*base_, WithProgram(Mode::kFunction, "return input"));
  ASSERT_TRUE(cell);
  const IsolateProcess first = Fork(*cell, listener_.get());
  const IsolateProcess second = Fork(*cell, listener_.get());
  const pid_t pid = cell->pid();
  cell.reset();
  EXPECT_TRUE(IsGoneWithin(pid, Millis(2000)));
  SendJob(first, "", "1");
  EXPECT_EQ(AwaitOutcome(first).value, "1");
  base_.reset();
  SendJob(second, "", "2");
  EXPECT_EQ(AwaitOutcome(second).value, "2");
  EXPECT_EQ(Reap(first), 0);
  EXPECT_EQ(Reap(second), 0);
}

TEST_F(DerivedCell, OutlivesItsBase) {
  auto cell = MakeReady(*base_, WithProgram(Mode::kFunction, "return input"));
  ASSERT_TRUE(cell);
  base_.reset();
  EXPECT_EQ(Run(*cell, "", "5").value, "5");
}

TEST_F(DerivedCell, ThatIsKilledWhileItForksLeavesNobody) {
  constexpr int kRounds = 60;
  constexpr int kForks = 12;
  const CellRecipe recipe = WithLibraries({{"lib", "exports.one = 1"}});
  const auto before = ChildrenOf(getpid());
  for (int round = 0; round < kRounds; ++round) {
    auto cell = MakeReady(*base_, recipe);
    ASSERT_TRUE(cell);
    for (int i = 0; i < kForks; ++i) ASSERT_TRUE(cell->RequestFork());
    usleep(static_cast<useconds_t>(round * 100));  // no fork takes as long
    ASSERT_EQ(kill(cell->pid(), SIGKILL), 0);
    cell.reset();
    // Whoever is no zombie yet has lost its socket, and goes.
    EXPECT_EQ(ChildrenOf(getpid()), before) << "round " << round;
    if (HasFailure()) break;
  }
}

TEST_F(DerivedCell, WithAProgramForksWhenItIsLetAndNotBefore) {
  auto cell = MakeReady(*base_, WithProgram(Mode::kFunction, "return 1"));
  ASSERT_TRUE(cell);
  EXPECT_FALSE(cell->TakeForkPermit()) << "nobody has asked it for one";
  ASSERT_TRUE(cell->RequestFork());
  ASSERT_TRUE(Readable(listener_.get()));
  pollfd collected{cell->control_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&collected, 1, 50), 0) << "its clone waits";
  EXPECT_TRUE(cell->TakeForkPermit());
  EXPECT_FALSE(cell->TakeForkPermit());
}

TEST_F(DerivedCell, WithAProgramMakesNoOtherCells) {
  auto cell = MakeReady(*base_, WithProgram(Mode::kFunction, "return 1"));
  ASSERT_TRUE(cell);
  const Status asked = cell->RequestCell(WithLibraries({}));
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(Run(*cell, "").value, "1");
}

TEST_F(DerivedCell, IsAskedForNothingBeforeItIsReady) {
  auto cell = Derive(*base_, WithProgram(Mode::kFunction, "return 1"));
  ASSERT_TRUE(cell);
  EXPECT_FALSE(cell->RequestFork());
  EXPECT_FALSE(cell->RequestCell(WithLibraries({})));
}

TEST_F(DerivedCell, HasOneThreadAndNoDescriptorsButItsOwn) {
  auto libraries = MakeReady(*base_, WithLibraries({{"lib", ""}}));
  ASSERT_TRUE(libraries);
  auto program = MakeReady(*libraries, WithProgram(Mode::kFunction, "return 1"));
  ASSERT_TRUE(program);
  EXPECT_EQ(StatusField(libraries->pid(), "Seccomp_filters"), "1");
  EXPECT_EQ(StatusField(program->pid(), "Seccomp_filters"), "2");
  for (const pid_t pid : {libraries->pid(), program->pid()}) {
    EXPECT_EQ(StatusField(pid, "Threads"), "1");
    if (geteuid() != 0) continue;  // reading another process's descriptors needs root
    char target[256];
    for (int fd = 3; fd < 20; ++fd) {
      const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
      const ssize_t got = readlink(path.c_str(), target, sizeof(target));
      const std::string_view name(target, got > 0 ? static_cast<std::size_t>(got) : 0);
      EXPECT_EQ(name.substr(0, 7), fd == 3 ? "socket:" : "") << fd;
    }
  }
}

TEST_F(DerivedCell, ItsRecipeIsForgottenHereOnceItIsSent) {
  const std::size_t before = skerry::testing::DescriptorsOf(getpid());
  auto cell = MakeReady(*base_, WithProgram(Mode::kFunction, "return 1"));
  ASSERT_TRUE(cell);
  EXPECT_EQ(skerry::testing::DescriptorsOf(getpid()), before + 2) << "its control socket and its pidfd";
}

TEST_F(DerivedCell, AHundredForksAskedForAtOnceAllComeOut) {
  auto cell = MakeReady(*base_, WithProgram(Mode::kFunction, "return 1"));
  ASSERT_TRUE(cell);
  constexpr int kForks = 100;
  for (int i = 0; i < kForks - 1; ++i) ASSERT_TRUE(cell->RequestFork()) << i;
  for (int i = 0; i < kForks; ++i) {
    if (i == 0) {
      KillAndReap(Fork(*cell, listener_.get()));
      continue;
    }
    AwaitFork(*cell, listener_.get());
    auto forked = cell->OnReadable();
    ASSERT_TRUE(forked && *forked) << i;
    KillAndReap(std::get<IsolateProcess>(**forked));
  }
}

TEST_F(DerivedCell, WithALargeProgramRunsIt) {
  std::string code = "export default () => f0();\n";
  for (int i = 0; code.size() < 500'000; ++i)
    code +=
        "function f" + std::to_string(i) + "() { return [" + std::to_string(i) + ", 'some text'].length }\n";
  auto cell = MakeReady(*base_, WithProgram(Mode::kModule, code));
  ASSERT_TRUE(cell);
  EXPECT_EQ(Run(*cell, "").value, "2");
}

// Not a test: what such cells are worth. Run by --gtest_also_run_disabled_tests --gtest_filter='*Figures'.
class DISABLED_DerivedCell : public DerivedCell {
 protected:
  void Print(const char* what, const std::function<void()>& one) {
    constexpr int kRounds = 60;
    std::vector<double> ms;
    for (int i = 0; i < kRounds; ++i) {
      const TimePoint start = SteadyClock::now();
      one();
      ms.push_back(MillisBetween(start, SteadyClock::now()));
    }
    std::sort(ms.begin(), ms.end());
    std::printf("%-60s p50 %6.2f ms, p10 %6.2f ms\n", what, ms[kRounds / 2], ms[kRounds / 10]);
  }
};

TEST_F(DISABLED_DerivedCell, Figures) {
  const std::string lodash = PackageFile("lodash/lodash.js");
  const CellRecipe with_lodash = WithLibraries({{"lodash", lodash}});
  auto libraries = MakeReady(*base_, with_lodash);
  ASSERT_TRUE(libraries);
  Print("a cell with lodash, made and ended", [&] { MakeReady(*base_, with_lodash); });
  Print("fork and trivial job, base cell", [&] { Run(*base_, "return input", "1"); });
  Print("fork and trivial job, cell with lodash", [&] { Run(*libraries, "return input", "1"); });
  Print("fork and job with three calls of lodash, its cell", [&] {
    Run(*libraries,
        "const _ = require('lodash'); return [_.chunk([1,2,3],2), _.camelCase('a b'), _.sortBy([3,1])]");
  });
  // The whole of it is over maxCodeBytes.
  const std::string inlined =
      "const module = { exports: {} }, exports = module.exports;\n" + PackageFile("lodash/lodash.min.js") +
      "\nconst _ = module.exports; return [_.chunk([1,2,3],2), _.camelCase('a b'), _.sortBy([3,1])]";
  Print("the same with lodash (minified) in the job's code, base cell", [&] { Run(*base_, inlined); });

  std::string code;
  for (int i = 0; code.size() < 500'000; ++i)
    code +=
        "class C" + std::to_string(i) + " { f(x) { return [x, 'some text', " + std::to_string(i) + "] } }\n";
  auto kept = MakeReady(*base_, WithProgram(Mode::kModule, code + "export default (i) => new C7().f(i)"));
  ASSERT_TRUE(kept);
  Print("a kept module of 500 KB, made and ended",
        [&] { MakeReady(*base_, WithProgram(Mode::kModule, code + "export default (i) => new C7().f(i)")); });
  Print("fork and job, kept module of 500 KB", [&] { Run(*kept, "", "1"); });
  auto function = MakeReady(*base_, WithProgram(Mode::kFunction, code + "return new C7().f(input)"));
  Print("fork and job, kept function of 500 KB", [&] { Run(*function, "", "1"); });
  Print("the same from its beginning, base cell",
        [&] { Run(*base_, code + "return new C7().f(input)", "1"); });
  auto small = MakeReady(*base_, WithProgram(Mode::kFunction, "return input"));
  Print("fork and job, kept function of a line", [&] { Run(*small, "", "1"); });
}

}  // namespace
}  // namespace skerry::cell
