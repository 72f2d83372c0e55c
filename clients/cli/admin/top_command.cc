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
    "serve first).\nWith several --admin it shows the sums of these brokers. Whichever does not answer is "
    "named, and "
    "asked again. No escape sequence is written "
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
    PoolSample sample = pool->Sample();
    if (sample.brokers.empty() || Interrupts() > 0) return ComplainOf(NobodyAnswers(sample.away));
    if (once_) {
      const TopView view(sample, nullptr);
      auto lines = arguments_.json() ? std::vector{view.Json()} : view.Lines(kAnySize);
      if (!arguments_.json()) arguments_.Name(sample.away, lines);
      return Printed(lines);
    }
    if (arguments_.json()) {
      return Follow(
          *pool, std::move(sample), [](const TopView& view) { return PrintLines({view.Json()}); },
          [] { return InterruptedWithin(kEvery); });
    }
    Screen screen;
    return Follow(
        *pool, std::move(sample), [&](const TopView& view) { return screen.Show(view.Lines(screen.Size())); },
        [&] { return screen.QuitWithin(kEvery); });
  }

 private:
  /// Goes on whoever is away, everybody included.
  template <class Show, class Quit>
  static int Follow(AdminPool& pool, PoolSample sample, Show show, Quit quit) {
    for (std::optional<PoolSample> before;;) {
      if (!show(TopView(sample, before ? &*before : nullptr))) return kExitCannotWrite;
      if (quit()) return Interrupts() > 0 ? kExitInterrupted : kExitOk;
      PoolSample next = pool.Sample();
      if (Interrupts() > 0) return kExitInterrupted;
      if (!sample.brokers.empty()) before = std::move(sample);
      sample = std::move(next);
    }
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
