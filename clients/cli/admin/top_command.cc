// `skerry top`.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "clients/cli/admin/admin_arguments.h"
#include "clients/cli/admin/top_view.h"
#include "clients/cli/commands.h"
#include "clients/cli/interrupt.h"

namespace skerry::cli {
namespace {

constexpr const char* kExamples =
    "  skerry top                              the pool that `skerry up` runs here, each second; q ends it\n"
    "  skerry top --admin ipc:///run/skerry/admin\n"
    "  skerry top --once                       one table, with means since the broker began\n"
    "  skerry top --json | jq .okPerSecond     an object a second\n";

constexpr const char* kAbout =
    "Queues, outcomes and limit trips per second, tenants (the busiest first) and workers (those that do not "
    "serve first).\nWith several --admin it shows the sums of these brokers. No escape sequence is written "
    "unless to a terminal.\n";

constexpr Millis kEvery{1'000};

class TopCommand : public Command {
 public:
  explicit TopCommand(CLI::App* app) : Command(app), arguments_(*app) {
    config::SetHelp(*app, {kExamples, std::string(kAbout) + kAdminHelp});
    app->add_flag("--once", once_, "one table, then end");
  }
  int Run() override {
    std::optional<AdminPool> pool;
    if (const auto exit = arguments_.Open(pool)) return *exit;
    auto sample = pool->Sample();
    if (!sample) return ComplainOf(sample.error());
    if (once_) {
      const TopView view(*sample, nullptr);
      return Printed(arguments_.json() ? std::vector{view.Json()} : view.Lines(kAnySize));
    }
    return arguments_.json() ? Follow(*pool, std::move(*sample)) : Live(*pool, std::move(*sample));
  }

 private:
  static int Follow(AdminPool& pool, PoolSample sample) {
    for (std::optional<PoolSample> before;;) {
      if (!PrintLines({TopView(sample, before ? &*before : nullptr).Json()})) return kExitCannotWrite;
      if (InterruptedWithin(kEvery)) return kExitOk;
      auto next = pool.Sample();
      if (!next) return ComplainOf(next.error());
      before = std::exchange(sample, std::move(*next));
    }
  }
  /// What it complains of is told when the terminal is as it was.
  static int Live(AdminPool& pool, PoolSample sample) {
    Error lost;
    {
      Screen screen;
      for (std::optional<PoolSample> before;;) {
        if (!screen.Show(TopView(sample, before ? &*before : nullptr).Lines(screen.Size())))
          return kExitCannotWrite;
        if (screen.QuitWithin(kEvery)) return kExitOk;
        auto next = pool.Sample();
        if (!next) {
          lost = next.error();
          break;
        }
        before = std::exchange(sample, std::move(*next));
      }
    }
    return Interrupts() > 0 ? kExitOk : ComplainOf(lost);
  }

  AdminArguments arguments_;
  bool once_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTop(CLI::App& parent) {
  return std::make_unique<TopCommand>(
      parent.add_subcommand("top", "a live table of tenants, queues, workers and outcomes"));
}

}  // namespace skerry::cli
