// skerry-worker: runs jobs for a broker, each in a forked V8 isolate of its own.

#include <iostream>
#include <string>

#include "common/config/command_line.h"
#include "common/descriptors.h"
#include "common/logging.h"
#include "common/version.h"
#include "worker/agent/cells/real_cell.h"
#include "worker/agent/machine.h"
#include "worker/agent/settings.h"
#include "worker/agent/worker.h"
#include "worker/cell/sandbox_report.h"

namespace skerry::agent {
namespace {

constexpr int kNoSuchSandbox = 1;
constexpr const char* kExamples =
    "  skerry-worker --broker ipc:///run/skerry/workers\n"
    "  skerry-worker --broker tcp://127.0.0.1:7702 --isolates 8 --spares 8 --memory-mb 4096\n"
    "  skerry-worker --broker ipc:///tmp/w --isolates 1 --spares 0 --log-level debug\n"
    "  skerry-worker --print-config\n"
    "  skerry-worker --probe-sandbox\n";

constexpr const char* kAbout =
    "Runs jobs that the broker sends, each in a forked V8 isolate of its own under hard limits.\n\n"
    "Each setting is a flag, a variable (--memory-mb: SKERRY_WORKER_MEMORY_MB) and a key of skerry.toml\n"
    "(memory_mb in [worker]); a flag wins over a variable, a variable over the file.\n"
    "SIGTERM or SIGINT: finish the jobs at hand, then leave; a second one ends them.";

// The kernel bounds those being passed at once, too. With fewer, jobs wait for isolates that cannot be had.
void RaiseDescriptorsFor(const WorkerOptions& options) {
  constexpr std::uint64_t kOwn = 64;
  const std::uint64_t wanted = 3 * options.isolates + 2 * options.spares + 4 * options.kept_cells + kOwn;
  const std::uint64_t files = RaiseDescriptorLimit();
  if (files >= wanted) return;
  log::Warn(
      "too few descriptors for isolates and spares: raise the limit (LimitNOFILE=, ulimit -Hn) or lower them",
      {{"descriptors", files}, {"wanted", wanted}});
}

cell::CellOptions CellsOf(const WorkerOptions& options) {
  cell::CellOptions cell;
  cell.program = options.cell_program;
  cell.jit = options.jit;
  cell.max_memory_mb = options.max_job_memory_mb;
  cell.init_program = BesideOwnBinary("skerry-init");
  cell.sandbox = cell::SandboxModeByName(options.sandbox).value_or(cell::SandboxMode::kStrict);
  return cell;
}

int Serve(const WorkerOptions& options) {
  RaiseDescriptorsFor(options);
  EventLoop loop;
  Worker worker(loop, options, RealCells(CellsOf(options)));
  return worker.Run();
}

/// Starts one cell as this worker's would be, and says what holds it or what could not be had:
///
///   seccomp (no-new-privileges seccomp)
///   under --sandbox=best-effort (skerry.toml:7)
///   missing: no network (needs ...)                 where something is
int ProbeSandbox(const WorkerOptions& options, const config::Source& chosen_by) {
  RaiseDescriptorLimit();
  const auto cell = cell::CellProcess::Start(CellsOf(options));
  if (!cell) {
    std::cerr << "skerry-worker: " << cell.error().message << "\n";
    return kNoSuchSandbox;
  }
  const cell::Mechanisms held = (*cell)->sandbox();
  std::cout << cell::Describe(held) << "\nunder --sandbox=" << options.sandbox << " (" << chosen_by.text
            << ")\n";
  const auto missing = cell::MissingFrom(held);
  if (!missing.empty()) std::cout << "missing: " << cell::HowToGrant(missing) << "\n";
  return 0;
}

int Main(int argc, char** argv) {
  AgentOptions options;
  config::Settings settings("worker");
  Describe(settings, options);
  CLI::App app("", "skerry-worker");
  config::SetHelp(app, {kExamples, kAbout});
  config::CommandLine line(app, "skerry-worker");
  line.Add(settings);
  line.AddPrint();
  app.set_version_flag("--version", "skerry-worker " + std::string(kSkerryVersion));
  bool probe = false;
  app.add_flag("--probe-sandbox", probe,
               "start one cell under the --sandbox that is set, say what holds it in, and leave");
  if (const auto status = config::ParseArguments(app, argc, argv)) return *status;
  if (probe) {
    // No broker is needed for it.
    if (const auto start = line.ConfigureParts({&settings}); start.exit) return *start.exit;
    options.worker.FillDefaults(UsableCores(), UsableMemory());
    return ProbeSandbox(options.worker, settings.At("sandbox").source());
  }
  const auto start =
      line.Configure(settings, [&] { return Finish(settings, options, UsableCores(), UsableMemory()); });
  if (start.exit) return *start.exit;
  if (auto status = InitLogging("worker", options.log_level, options.log_format); !status) {
    std::cerr << "skerry-worker: --log-level: " << status.error().message << "\n";
    return config::kExitUsage;
  }
  log::Info("configuration", {{"file", start.file.empty() ? "none" : start.file}});
  options.worker.FillDefaults(UsableCores(), UsableMemory());  // once more: a name of this process's own
  return Serve(options.worker);
}

}  // namespace
}  // namespace skerry::agent

int main(int argc, char** argv) {
  skerry::FillStandardDescriptors();
  return skerry::agent::Main(argc, argv);
}
