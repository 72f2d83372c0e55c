#include "worker/agent/cells/real_cell.h"

#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "worker/agent/process.h"
#include "worker/cell/forbidden_calls.h"
#include "worker/engine/engine.h"

namespace skerry::agent {
namespace {

class SeccompReports final : public ForbiddenCalls {
 public:
  explicit SeccompReports(Fd listener) : listener_(std::move(listener)) {}

  int fd() const override { return listener_.get(); }
  std::optional<ForbiddenCall> Next() override {
    auto call = cell::NextForbiddenCall(listener_.get());
    if (!call) return std::nullopt;
    return ForbiddenCall{call->pid, std::move(call->name), call->is_fork, call->id};
  }
  void LetFork(const ForbiddenCall& call) override {
    cell::LetFork(listener_.get(), {call.pid, call.name, call.is_fork, call.id});
  }

 private:
  Fd listener_;
};

class RealCell final : public Cell {
 public:
  explicit RealCell(std::unique_ptr<cell::CellProcess> process) : process_(std::move(process)) {}

  int control_fd() const override { return process_->control_fd(); }
  pid_t pid() const override { return process_->pid(); }
  int pidfd() const override { return process_->pidfd(); }
  V8Build v8() const override { return {process_->v8_version(), process_->v8_flags()}; }
  std::unique_ptr<ForbiddenCalls> TakeForbiddenCalls() override {
    Fd listener = process_->TakeForbiddenCalls();
    if (!listener.valid()) return nullptr;
    return std::make_unique<SeccompReports>(std::move(listener));
  }
  std::string DescribeSandbox() const override { return cell::Describe(process_->sandbox()); }
  std::string MissingFromSandbox() const override {
    return cell::NamesOf(cell::MissingFrom(process_->sandbox()));
  }
  SandboxLevel sandbox_level() const override { return cell::LevelOf(process_->sandbox()); }
  bool KeepsPrograms() const override { return cell::CanHoldPrograms(process_->sandbox()); }
  Status RequestFork() override { return process_->RequestFork(); }
  Status RequestCell(std::shared_ptr<const cell::CellRecipe> recipe) override {
    if (auto asked = process_->RequestCell(*recipe); !asked) return asked;
    recipes_.push_back(std::move(recipe));
    return {};
  }
  bool IsReady() const override { return process_->is_ready(); }
  bool TakeForkPermit() override { return process_->TakeForkPermit(); }
  Result<std::optional<Forked>> OnReadable() override;

 private:
  Result<std::unique_ptr<Cell>> Begin(std::unique_ptr<cell::CellProcess> derived);

  std::unique_ptr<cell::CellProcess> process_;
  std::deque<std::shared_ptr<const cell::CellRecipe>> recipes_;  // of cells asked for, in order
  bool limited_for_now_ = false;
};

Result<std::optional<Forked>> RealCell::OnReadable() {
  auto forked = process_->OnReadable();
  if (!forked) return Fail(forked.error());
  if (limited_for_now_ && process_->is_ready()) {
    // What its isolates may have is said when they get their jobs.
    if (auto lifted = LimitDataForNow(pid(), std::nullopt); !lifted) return Fail(lifted.error());
    limited_for_now_ = false;
  }
  if (!*forked) return std::optional<Forked>();
  if (auto* derived = std::get_if<std::unique_ptr<cell::CellProcess>>(&**forked)) {
    auto begun = Begin(std::move(*derived));
    if (!begun) return Fail(begun.error());
    return std::optional<Forked>(std::move(*begun));
  }
  auto& isolate = std::get<cell::IsolateProcess>(**forked);
  return std::optional<Forked>(ForkedProcess{std::move(isolate.home), isolate.pid, std::move(isolate.pidfd),
                                             std::move(isolate.socket)});
}

/// Its memory is the other cell's until it has its recipe, and so is what that may add to it.
Result<std::unique_ptr<Cell>> RealCell::Begin(std::unique_ptr<cell::CellProcess> derived) {
  const auto recipe = std::move(recipes_.front());
  recipes_.pop_front();
  auto cell = std::make_unique<RealCell>(std::move(derived));
  const auto memory = ReadMemory(cell->pid());
  // It has ended: its control socket tells so.
  if (!memory) return std::unique_ptr<Cell>(std::move(cell));
  const std::uint64_t budget_mb =
      recipe->program ? cell::LimitsOf(recipe->program->job).memory_mb() : kLibraryMb;
  const Bytes most = memory->data + Bytes::MiB(budget_mb + engine::kDataMarginMb);
  Status limited;
  if (recipe->program) {
    limited = LimitData(cell->pid(), most);
  } else {
    limited = LimitDataForNow(cell->pid(), most);
    cell->limited_for_now_ = true;
  }
  if (!limited) return Fail(limited.error());
  if (auto sent = cell->process_->SendRecipe(); !sent) return Fail(sent.error());
  return std::unique_ptr<Cell>(std::move(cell));
}

}  // namespace

CellFactory RealCells(cell::CellOptions options) {
  return [options = std::move(options)]() -> Result<std::unique_ptr<Cell>> {
    auto process = cell::CellProcess::Start(options);
    if (!process) return Fail(process.error());
    return std::unique_ptr<Cell>(new RealCell(std::move(*process)));
  };
}

}  // namespace skerry::agent
