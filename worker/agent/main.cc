// skerry-worker: runs jobs for a broker, each in a forked V8 isolate of its own.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>

#include "common/logging.h"
#include "worker/agent/machine.h"
#include "worker/agent/real_cell.h"
#include "worker/agent/worker.h"
#include "worker/agent/worker_options.h"

namespace skerry::agent {
namespace {

constexpr int kUsage = 2;

constexpr const char* kExamples = R"(Examples:
  skerry-worker --broker ipc:///run/skerry/workers
  skerry-worker --broker tcp://127.0.0.1:7702 --isolates 8 --spares 8 --memory-mb 4096
  skerry-worker --broker ipc:///tmp/w --isolates 1 --spares 0 --log-level debug

Runs jobs that the broker sends, each in a forked V8 isolate of its own under hard limits.
SIGTERM or SIGINT: finish the jobs at hand, then leave; a second one ends them.
)";

struct CommandLine {
  WorkerOptions worker;
  std::string log_level = "info";
  std::string log_format = "text";
};

void Describe(CLI::App& app, CommandLine& line) {
  WorkerOptions& worker = line.worker;
  app.add_option("--broker", worker.broker_url,
                 "Endpoint of the broker for workers (ipc:// or loopback tcp://)")
      ->required()
      ->type_name("URL");
  app.add_option("--isolates", worker.isolates, "Jobs that run at once, 1 to 4096 [2 x cores]")
      ->type_name("N");
  app.add_option("--spares", worker.spares,
                 "Isolates forked ahead of need, 0 to 4096 [as --isolates, at most 2 x cores]")
      ->type_name("N");
  app.add_option("--memory-mb", worker.memory_mb,
                 "Memory for cells, spares and jobs, MiB [80 % of RAM or cgroup]")
      ->type_name("N");
  app.add_option("--max-job-memory-mb", worker.max_job_memory_mb,
                 "Largest memoryMb of a job, 8 to 16384 [1024]")
      ->type_name("N");
  app.add_option("--jit", worker.jit, "V8's compilers: full, maglev or none [maglev]")
      ->type_name("MODE")
      ->check(CLI::IsMember({"full", "maglev", "none"}));
  app.add_option("--cell", worker.cell_program, "Path of skerry-cell [beside this binary]")
      ->type_name("PATH");
  app.add_option("--id", worker.id, "Name of this worker in logs; a random part is added [worker]")
      ->type_name("NAME");
  app.add_option("--log-level", line.log_level, "trace, debug, info, warn, error or off [info]")
      ->type_name("LEVEL");
  app.add_option("--log-format", line.log_format, "text or json [text]")->type_name("FORMAT");
}

// Three descriptors a lease, and the kernel's bound on those being passed at once: shells give 1024 where the
// hard limit is far higher.
void RaiseDescriptorLimit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

int Serve(const WorkerOptions& options) {
  RaiseDescriptorLimit();
  cell::CellOptions cell;
  cell.program = options.cell_program;
  cell.jit = options.jit;
  cell.max_memory_mb = options.max_job_memory_mb;
  EventLoop loop;
  Worker worker(loop, options, RealCells(cell));
  return worker.Run();
}

int Main(int argc, char** argv) {
  CommandLine line;
  CLI::App app(kExamples, "skerry-worker");
  Describe(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : kUsage;
  }
  if (auto status = InitLogging("worker", line.log_level, line.log_format); !status) {
    std::cerr << "skerry-worker: --log-level, --log-format: " << status.error().message << "\n";
    return kUsage;
  }
  if (line.worker.isolates == 0) line.worker.isolates = std::size_t{2} * UsableCores();
  const bool spares_given = !app.get_option("--spares")->empty();
  if (!spares_given) line.worker.spares = std::min(line.worker.isolates, std::size_t{2} * UsableCores());
  line.worker.FillDefaults(UsableCores(), UsableMemory());
  if (auto status = line.worker.Validate(); !status) {
    std::cerr << "skerry-worker: " << status.error().message << "\n";
    return kUsage;
  }
  return Serve(line.worker);
}

}  // namespace
}  // namespace skerry::agent

int main(int argc, char** argv) {
  return skerry::agent::Main(argc, argv);
}
