// skerry: the command line. Options in; run_command.h and exec_command.h do the work.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

constexpr const char* kRunExamples =
    "Each line of JOBS.jsonl is one job; `code` is all it needs:\n"
    "  {\"id\":\"add\",\"code\":\"return input.a + "
    "input.b\",\"input\":{\"a\":19,\"b\":23},\"limits\":{\"timeoutMs\":1000}}\n"
    "FIXTURES.json answers host calls by method; \"*\" answers any other:\n"
    "  "
    "{\"getUser\":{\"$value\":{\"id\":1},\"$delayMs\":20},\"flaky\":{\"$error\":\"no\"},\"slow\":{\"$never\":"
    "true},\"*\":null}\n\n"
    "RESULTS.jsonl is replaced unless --resume is given; results come in the order in which jobs end.\n"
    "Exit status: 0 all ok, 1 some jobs failed, 2 usage, 69 broker unreachable, 74 output failed, 130 "
    "interrupted.\n";

/// `broker`: with one there is no private pool for them to apply to.
void AddPoolOptions(CLI::App& app, PoolOptions& pool, CLI::Option* broker) {
  app.add_option("--isolates", pool.isolates, "jobs at once per private worker (2 x cores)")
      ->check(CLI::Range(1, 4096))
      ->excludes(broker);
  app.add_option("--spares", pool.spares,
                 "isolates forked ahead per private worker (as --isolates, at most 2 x cores)")
      ->check(CLI::Range(0, 4096))
      ->excludes(broker);
  app.add_option("--memory-mb", pool.memory_mb,
                 "memory of each private worker for cells, spares and jobs together, MiB (80 % of RAM)")
      ->check(CLI::Range(1, 1 << 26))
      ->excludes(broker);
  app.add_option("--jit", pool.jit, "V8's compilers in private workers (maglev)")
      ->check(CLI::IsMember({"full", "maglev", "none"}))
      ->excludes(broker);
  app.add_option("--ceiling", pool.ceilings,
                 "LIMIT=VALUE, the most a job may ask of the private pool, repeatable")
      ->excludes(broker);
  app.add_option("--log-level", pool.log_level,
                 "of private processes: trace, debug, info, warn, error, off (warn)")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_option("--worker-program", pool.worker_program,
                 "the private workers' program (skerry-worker beside skerry)")
      ->check(CLI::ExistingFile)
      ->excludes(broker);
}

/// What CLI11 asks of a check: why not, or nothing.
std::string CheckId(const std::string& id) {
  if (!id.empty() && id.size() <= kMaxIdBytes) return {};
  return "must be 1 to " + std::to_string(kMaxIdBytes) + " bytes";
}

/// Returns --broker.
CLI::Option* AddConnectOptions(CLI::App& app, ConnectOptions& connect) {
  CLI::Option* broker =
      app.add_option("--broker", connect.broker,
                     "ENDPOINT of a running skerry-broker's --clients; without it a private pool is started");
  app.add_option("--data", connect.data, "FIXTURES.json: answers to host calls");
  app.add_option("--tenant", connect.tenant, "tenant of jobs that name none (default)")->check(&CheckId);
  app.add_option("--user", connect.user, "user of jobs that name none")->check(&CheckId);
  return broker;
}

CLI::App* AddRun(CLI::App& app, RunOptions& run) {
  CLI::App* sub = app.add_subcommand("run", "run a file of jobs (JSON Lines)");
  sub->add_option("jobs", run.jobs, "JOBS.jsonl, or - for stdin")->required();
  sub->add_option("-o,--output", run.output, "RESULTS.jsonl, or - for stdout (-)");
  sub->add_flag(
      "--resume", run.resume,
      "keep the output's results, run only what has none or failed on our side; find what a killed run left "
      "with --broker");
  sub->add_flag("--quiet", run.quiet, "no progress bar, no summary");
  CLI::Option* broker = AddConnectOptions(*sub, run.connect);
  sub->add_option("--workers", run.connect.pool.workers, "private workers to start (1)")
      ->check(CLI::Range(1, 256))
      ->excludes(broker);
  AddPoolOptions(*sub, run.connect.pool, broker);
  sub->footer(kRunExamples);
  return sub;
}

/// The limits that one-off programs are given on the command line.
struct ExecLimit {
  const char* option;
  LimitId id;
  std::optional<std::uint64_t> value;
};

CLI::App* AddExec(CLI::App& app, ExecOptions& exec, std::vector<ExecLimit>& limits) {
  CLI::App* sub = app.add_subcommand("exec", "run one program");
  sub->add_option("file", exec.file, "FILE.js, or - for stdin")->required();
  sub->add_option("--input", exec.input, "JSON for the program's `input`");
  sub->add_option("--mode", exec.mode, "function, script or module (module for .mjs, else function)");
  for (ExecLimit& limit : limits) {
    sub->add_option(limit.option, limit.value, "the job's limit " + std::string(NameOf(limit.id)));
  }
  AddConnectOptions(*sub, exec.connect);
  PoolOptions& pool = exec.connect.pool;
  sub->add_option("--jit", pool.jit, "V8's compilers (maglev)")
      ->check(CLI::IsMember({"full", "maglev", "none"}));
  sub->add_option("--log-level", pool.log_level, "of the private processes (warn)");
  sub->add_option("--worker-program", pool.worker_program, "the private worker's program")
      ->check(CLI::ExistingFile);
  // One job needs one slot; its isolate is forked while the client still connects.
  pool.isolates = 1;
  pool.spares = 1;
  return sub;
}

int Main(int argc, char** argv) {
  CLI::App app(kExamples, "skerry");
  app.require_subcommand(1);
  app.set_version_flag("--version", SKERRY_VERSION);
  RunOptions run;
  ExecOptions exec;
  std::vector<ExecLimit> limits = {{"--timeout-ms", LimitId::kTimeoutMs, {}},
                                   {"--cpu-ms", LimitId::kCpuMs, {}},
                                   {"--memory-mb", LimitId::kMemoryMb, {}},
                                   {"--max-result-bytes", LimitId::kMaxResultBytes, {}}};
  const CLI::App* run_app = AddRun(app, run);
  AddExec(app, exec, limits);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kExitOk : kExitUsage;
  }
  if (run_app->parsed()) return RunCommand(run);
  for (const ExecLimit& limit : limits) {
    if (limit.value) exec.limits.emplace_back(std::string(NameOf(limit.id)), *limit.value);
  }
  return ExecCommand(exec);
}

}  // namespace
}  // namespace skerry::cli

int main(int argc, char** argv) {
  return skerry::cli::Main(argc, argv);
}
