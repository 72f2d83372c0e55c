#include "worker/agent/real_cell.h"

#include <utility>

#include "worker/cell/forbidden_calls.h"

namespace skerry::agent {
namespace {

class SeccompReports final : public ForbiddenCalls {
 public:
  explicit SeccompReports(Fd listener) : listener_(std::move(listener)) {}

  int fd() const override { return listener_.get(); }
  std::optional<ForbiddenCall> Next() override {
    auto call = cell::NextForbiddenCall(listener_.get());
    if (!call) return std::nullopt;
    return ForbiddenCall{call->pid, std::move(call->name)};
  }

 private:
  Fd listener_;
};

class RealCell final : public Cell {
 public:
  explicit RealCell(std::unique_ptr<cell::CellProcess> process) : process_(std::move(process)) {}

  int control_fd() const override { return process_->control_fd(); }
  pid_t pid() const override { return process_->pid(); }
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
  Status RequestFork() override { return process_->RequestFork(); }
  Result<std::optional<Forked>> OnReadable() override {
    auto forked = process_->OnReadable();
    if (!forked) return Fail(forked.error());
    if (!*forked) return std::optional<Forked>();
    cell::IsolateProcess& isolate = **forked;
    return std::optional<Forked>(ForkedProcess{std::move(isolate.home), isolate.pid, std::move(isolate.pidfd),
                                               std::move(isolate.socket)});
  }

 private:
  std::unique_ptr<cell::CellProcess> process_;
};

}  // namespace

CellFactory RealCells(cell::CellOptions options) {
  return [options = std::move(options)]() -> Result<std::unique_ptr<Cell>> {
    auto process = cell::CellProcess::Start(options);
    if (!process) return Fail(process.error());
    return std::unique_ptr<Cell>(new RealCell(std::move(*process)));
  };
}

}  // namespace skerry::agent
