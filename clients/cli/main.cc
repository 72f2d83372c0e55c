// skerry: the command line. Options in; run_command.h and exec_command.h do the work.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string>

#include "clients/cli/exec_command.h"
#include "clients/cli/exit_codes.h"
#include "clients/cli/run_command.h"
#include "common/limits.h"

namespace skerry::cli {
namespace {

constexpr const char* kExamples =
    "Runs untrusted JavaScript in bulk.\n\n"
    "Examples:\n"
    "  skerry run jobs.jsonl -o results.jsonl            a private broker and worker, just for this run\n"
    "  skerry run jobs.jsonl -o results.jsonl --resume   go on where the last run stopped\n"
    "  generate | skerry run - --quiet > results.jsonl   jobs from a pipe\n"
    "  skerry run jobs.jsonl --broker tcp://127.0.0.1:7001\n"
    "  skerry exec tool.js --input '{\"x\":1}' --data fixtures.json\n\n"
    "Exit status: 0 all ok, 1 some jobs failed, 2 usage, 69 broker unreachable, 74 output failed, 130 "
    "interrupted.\n";

constexpr const char* kWorkersMsg = "private workers to start (1)";

void AddPoolOptions(CLI::App& app, PoolOptions& pool) {
  app.add_option("--isolates", pool.isolates, "jobs at once per private worker (2 x cores)")
      ->check(CLI::Range(1, 1 << 16));
  app.add_option("--spares", pool.spares, "isolates forked ahead per private worker")
      ->check(CLI::Range(0, 1 << 16));
  app.add_option("--memory-mb", pool.memory_mb, "memory for jobs per private worker, MiB (80 % of RAM)")
      ->check(CLI::Range(1, 1 << 26));
  app.add_option("--jit", pool.jit, "V8's compilers in private workers (maglev)")
      ->check(CLI::IsMember({"full", "maglev", "none"}));
  app.add_option("--sandbox", pool.sandbox, "sandbox level of private workers, passed on to them");
  app.add_option("--ceiling", pool.ceilings,
                 "LIMIT=VALUE, the most a job may ask of the private pool, repeatable");
  app.add_option("--log-level", pool.log_level,
                 "of private processes: trace, debug, info, warn, error, off (warn)")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_option("--worker-program", pool.worker_program,
                 "the private workers' program (skerry-worker beside skerry)");
}

void AddConnectOptions(CLI::App& app, ConnectOptions& connect) {
  app.add_option("--broker", connect.broker, "its clients' endpoint; without it a private pool is started");
  app.add_option("--data", connect.data, "FIXTURES.json: answers to host calls");
  app.add_option("--tenant", connect.tenant, "tenant of jobs that name none (default)");
  app.add_option("--user", connect.user, "user of jobs that name none");
}

struct Limit {
  const char* option;
  LimitId id;
  std::optional<std::uint64_t> value;
};

int Main(int argc, char** argv) {
  CLI::App app(kExamples, "skerry");
  app.require_subcommand(1);
  int code = kExitUsage;

  RunOptions run;
  CLI::App* run_app = app.add_subcommand("run", "run a file of jobs (JSON Lines)");
  run_app->add_option("jobs", run.jobs, "JOBS.jsonl, or - for stdin")->required();
  run_app->add_option("-o,--output", run.output, "RESULTS.jsonl, or - for stdout (-)");
  run_app->add_flag("--resume", run.resume,
                    "keep the output's results, run only what has none or failed on our side");
  run_app->add_flag("--quiet", run.quiet, "no progress bar, no summary");
  run_app->add_option("--workers", run.connect.pool.workers, kWorkersMsg)->check(CLI::Range(1, 256));
  AddConnectOptions(*run_app, run.connect);
  AddPoolOptions(*run_app, run.connect.pool);

  ExecOptions exec;
  Limit limits[] = {{"--timeout-ms", LimitId::kTimeoutMs, {}},
                    {"--cpu-ms", LimitId::kCpuMs, {}},
                    {"--memory-mb", LimitId::kMemoryMb, {}},
                    {"--max-result-bytes", LimitId::kMaxResultBytes, {}}};
  CLI::App* exec_app = app.add_subcommand("exec", "run one program");
  exec_app->add_option("file", exec.file, "FILE.js, or - for stdin")->required();
  exec_app->add_option("--input", exec.input, "JSON for the program's `input`");
  exec_app->add_option("--mode", exec.mode, "function, script or module (module for .mjs, else function)");
  for (Limit& limit : limits) {
    exec_app->add_option(limit.option, limit.value, "the job's limit " + std::string(NameOf(limit.id)));
  }
  AddConnectOptions(*exec_app, exec.connect);
  exec_app->add_option("--jit", exec.connect.pool.jit, "V8's compilers (maglev)")
      ->check(CLI::IsMember({"full", "maglev", "none"}));
  exec_app->add_option("--sandbox", exec.connect.pool.sandbox, "sandbox level, passed on to the worker");
  exec_app->add_option("--log-level", exec.connect.pool.log_level, "of the private processes (warn)");
  exec_app->add_option("--worker-program", exec.connect.pool.worker_program, "the private worker's program");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kExitOk : kExitUsage;
  }
  if (*run_app) code = RunCommand(run);
  if (*exec_app) {
    for (const Limit& limit : limits) {
      if (limit.value) exec.limits.emplace_back(std::string(NameOf(limit.id)), *limit.value);
    }
    // One job needs one slot; a spare is forked for it while the client still connects.
    exec.connect.pool.isolates = 1;
    exec.connect.pool.spares = 1;
    code = ExecCommand(exec);
  }
  return code;
}

}  // namespace
}  // namespace skerry::cli

int main(int argc, char** argv) {
  return skerry::cli::Main(argc, argv);
}
