// Cells behind the agent's interface, made of real processes: above all, what those that are forked from
// others may hold.
#include "worker/agent/cells/real_cell.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>

#include <cerrno>
#include <variant>

#include "worker/agent/process.h"
#include "worker/engine/engine.h"

namespace skerry::agent {
namespace {

constexpr int kPatienceMs = 5'000;

std::shared_ptr<cell::CellRecipe> WithLibrary(std::string code) {
  auto recipe = std::make_shared<cell::CellRecipe>();
  recipe->libraries = {std::make_shared<cell::Library>(cell::Library{"lib", std::move(code)})};
  return recipe;
}

std::shared_ptr<cell::CellRecipe> WithProgram(std::string code, std::uint64_t memory_mb) {
  auto recipe = std::make_shared<cell::CellRecipe>();
  recipe->program.emplace();
  recipe->program->job.limits = {{"memoryMb", memory_mb}};
  recipe->program->job.mode = Mode::kModule;
  recipe->program->code = std::move(code);
  return recipe;
}

rlimit DataLimitOf(pid_t pid) {
  rlimit limit{};
  EXPECT_EQ(prlimit(pid, RLIMIT_DATA, nullptr, &limit), 0);
  return limit;
}

class RealCellTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cell::CellOptions options;
    options.program = SKERRY_BIN_DIR "/skerry-cell";
    auto base = RealCells(options)();
    ASSERT_TRUE(base) << base.error().message;
    base_ = std::move(*base);
    reports_ = base_->TakeForbiddenCalls();
    if (!base_->KeepsPrograms()) GTEST_SKIP() << "this machine's sandbox keeps no programs";
  }

  /// The next thing out of `cell`; lets it fork. Nothing: it is ready now.
  Result<std::optional<Forked>> Next(Cell& cell) {
    for (;;) {
      pollfd fds[] = {{cell.control_fd(), POLLIN, 0}, {reports_->fd(), POLLIN, 0}};
      if (poll(fds, 2, kPatienceMs) <= 0) return Fail(ErrorKind::kExhausted, "it says nothing");
      if ((fds[1].revents & POLLIN) != 0) {
        const auto call = reports_->Next();
        if (call && call->is_fork && call->pid == cell.pid() && cell.TakeForkPermit())
          reports_->LetFork(*call);
      }
      if (fds[0].revents != 0) return cell.OnReadable();
    }
  }
  std::unique_ptr<Cell> Derive(std::shared_ptr<cell::CellRecipe> recipe) {
    EXPECT_TRUE(base_->RequestCell(std::move(recipe)));
    auto forked = Next(*base_);
    EXPECT_TRUE(forked && *forked);
    if (!forked || !*forked) return nullptr;
    return std::move(std::get<std::unique_ptr<Cell>>(**forked));
  }

  std::unique_ptr<Cell> base_;
  std::unique_ptr<ForbiddenCalls> reports_;
};

TEST_F(RealCellTest, AProgramCellAndItsIsolatesHaveWhatItsJobMayHaveForGood) {
  const auto memory = ReadMemory(base_->pid());
  ASSERT_TRUE(memory);
  auto cell = Derive(WithProgram("export default 1", 32));
  ASSERT_TRUE(cell);
  EXPECT_FALSE(cell->IsReady());
  const rlimit limit = DataLimitOf(cell->pid());
  EXPECT_EQ(limit.rlim_cur, limit.rlim_max);
  EXPECT_NEAR(static_cast<double>(limit.rlim_cur),
              static_cast<double>((memory->data + Bytes::MiB(32 + engine::kDataMarginMb)).count()), 1 << 20);
  ASSERT_TRUE(Next(*cell));
  EXPECT_TRUE(cell->IsReady());
  ASSERT_TRUE(cell->RequestFork());
  auto forked = Next(*cell);
  ASSERT_TRUE(forked && *forked);
  const auto& isolate = std::get<ForkedProcess>(**forked);
  EXPECT_EQ(DataLimitOf(isolate.pid).rlim_max, limit.rlim_max);
  KillProcess(isolate.pidfd.get());
  ReapBlocking(isolate.pidfd.get());
}

TEST_F(RealCellTest, ALibraryCellIsBoundedUntilItIsReady) {
  const auto memory = ReadMemory(base_->pid());
  ASSERT_TRUE(memory);
  auto cell = Derive(WithLibrary("exports.x = 1"));
  ASSERT_TRUE(cell);
  EXPECT_NEAR(static_cast<double>(DataLimitOf(cell->pid()).rlim_cur),
              static_cast<double>((memory->data + Bytes::MiB(kLibraryMb + engine::kDataMarginMb)).count()),
              1 << 20);
  ASSERT_TRUE(Next(*cell));
  EXPECT_TRUE(cell->IsReady());
  const rlimit limit = DataLimitOf(cell->pid());
  EXPECT_EQ(limit.rlim_cur, limit.rlim_max);
  EXPECT_EQ(limit.rlim_max, DataLimitOf(base_->pid()).rlim_max)
      << "what its isolates may have is for later to say";
}

TEST_F(RealCellTest, ALibraryThatHoldsMoreThanItsBoundEndsItsCell) {
  for (const std::uint64_t mb : {kLibraryMb - 16, kLibraryMb + engine::kDataMarginMb + 1}) {
    auto cell = Derive(WithLibrary("exports.held = []; for (let i = 0; i < " + std::to_string(mb) +
                                   "; i++) exports.held.push(new Uint8Array(1 << 20).fill(1))"));
    ASSERT_TRUE(cell);
    const auto next = Next(*cell);
    EXPECT_EQ(next.has_value(), mb < kLibraryMb) << mb;
    EXPECT_EQ(cell->IsReady(), mb < kLibraryMb) << mb;
  }
}

TEST_F(RealCellTest, AProgramThatCannotBeKeptIsInvalidAndOneThatDiesIsNot) {
  auto cell = Derive(WithProgram("console.log(input)", 32));
  ASSERT_TRUE(cell);
  auto next = Next(*cell);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().kind, ErrorKind::kInvalid) << next.error().message;
  cell = Derive(WithProgram("const a = []; for (;;) a.push(new Array(1000).fill(1.5))", 32));
  ASSERT_TRUE(cell);
  next = Next(*cell);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().kind, ErrorKind::kUnavailable) << next.error().message;
}

}  // namespace
}  // namespace skerry::agent
