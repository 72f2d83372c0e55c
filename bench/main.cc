// skerry-bench: figures of Skerry as ratios to something measured beside it in the same minutes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench.h"
#include "clients/cli/child_process.h"
#include "common/descriptors.h"
#include "common/logging.h"

namespace skerry::bench {
namespace {

constexpr const char* kExamples = R"(Examples
  ./dev bench --quick                     all but peers and scaling, within a minute
  ./dev bench                             the same, longer and over more workloads: some 25 minutes
  ./dev bench stack --workload trivial    one bench, one workload
  ./dev bench peers                       beside other sandboxes; installs them with npm first
  ./dev bench engine stack --json         one JSON object a line

Compare ratios, and within one run only: what is compared runs in turns, so that a noisy machine
disturbs both. docs/performance.md says what each table means.
)";

constexpr std::size_t kQuickWorkloads = 2;
constexpr int kExitUsage = 2;

struct Options {
  std::vector<std::string> benches;
  std::vector<std::string> workloads;
  bool json = false;
  bool quick = false;
  int rounds = 0;      // 0: the plan's
  int stretch_ms = 0;  // likewise
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
};

std::string About() {
  std::string about = "Measures Skerry beside baselines.\n\n" + std::string(kExamples) + "\nBenches\n";
  for (const Bench& bench : AllBenches()) {
    std::string name = bench.name;
    name.resize(10, ' ');
    about += "  " + name + bench.summary + (bench.in_default_set ? "\n" : "; not run unless named\n");
  }
  if (const auto workloads = LoadAllWorkloads()) {
    about += "\nWorkloads\n";
    for (const Workload& workload : *workloads) {
      std::string name = workload.name;
      name.resize(10, ' ');
      about += "  " + name + workload.summary + "\n";
    }
  }
  return about;
}

Result<Setting> SettingOf(const Options& options) {
  Setting setting;
  if (options.quick) setting.plan = kQuickPlan;
  if (options.quick) setting.workload_count = kQuickWorkloads;
  if (options.rounds > 0) setting.plan.rounds = options.rounds;
  if (options.stretch_ms > 0) setting.plan.stretch = Millis(options.stretch_ms);
  setting.cores = options.cores;
  auto binaries = cli::OwnFolder();
  if (!binaries) return Fail(binaries.error());
  setting.binaries = *binaries;
  for (const std::string& name : options.workloads) {
    auto workload = FindWorkload(name);
    if (!workload) return Fail(workload.error());
    setting.workloads.push_back(std::move(*workload));
  }
  return setting;
}

bool Wanted(const Bench& bench, const std::vector<std::string>& named) {
  return named.empty() ? bench.in_default_set
                       : std::find(named.begin(), named.end(), bench.name) != named.end();
}

Status Run(const Options& options) {
  if (auto logging = InitLogging("bench", "warn", "text"); !logging) return logging;
  RaiseDescriptorLimit();
  auto setting = SettingOf(options);
  if (!setting) return Fail(setting.error());
  Report report(options.json ? Report::Form::kJson : Report::Form::kTable, std::cout);
  Progress progress(Progress::ForStderr());
  setting->report = &report;
  setting->progress = &progress;
  for (const Bench& bench : AllBenches()) {
    if (!Wanted(bench, options.benches)) continue;
    progress.Begin(bench.name);
    report.Begin(bench.name);
    if (auto status = bench.run(*setting); !status)
      return Fail(status.error().kind, std::string(bench.name) + ": " + status.error().message);
  }
  return {};
}

int Main(int argc, char** argv) {
  Options options;
  std::vector<std::string> names;
  for (const Bench& bench : AllBenches()) names.emplace_back(bench.name);
  CLI::App app(About(), "skerry-bench");
  app.add_option("benches", options.benches, "which; none: all but peers and scaling")
      ->check(CLI::IsMember(names));
  app.add_option("-w,--workload", options.workloads, "instead of each bench's own choice; may be repeated")
      ->allow_extra_args(false);
  app.add_flag("--json", options.json, "one JSON object a line");
  app.add_flag("--quick", options.quick,
               "fewer and shorter rounds: all but peers and scaling within a minute");
  app.add_option("--cores", options.cores,
                 "loops and peers beside each other (default: this machine's cores)")
      ->check(CLI::Range(1u, 1024u));
  app.add_option("--rounds", options.rounds, "turns of each side (default: 9; quick: 3)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--stretch-ms", options.stretch_ms, "of each turn, ms (default: 3000; quick: 300)")
      ->check(CLI::Range(10, 600'000));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  if (auto status = Run(options); !status) {
    std::fprintf(stderr, "skerry-bench: %s\n", status.error().message.c_str());
    return status.error().kind == ErrorKind::kInvalid ? kExitUsage : 1;
  }
  return 0;
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) {
  return skerry::bench::Main(argc, argv);
}
