// skerry-bench: throughput and latency through the whole stack, as a ratio to a bare loop of fresh V8
// isolates in the same run. The two are interleaved, so that a noisy machine disturbs both alike; compare
// within one run only.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "bench/bare_loop.h"
#include "bench/report.h"
#include "bench/stack_load.h"
#include "bench/workload.h"
#include "clients/cli/private_pool.h"
#include "clients/cpp/client.h"

namespace skerry::bench {
namespace {

constexpr const char* kExamples = R"(Examples
  ./dev bench                    every workload, about four minutes
  ./dev bench --quick            within a minute
  ./dev bench trivial --json     one workload, one JSON object a line
)";

struct Options {
  std::vector<std::string> workloads;
  bool json = false;
  bool quick = false;
  unsigned processes = std::max(1u, std::thread::hardware_concurrency());
};

struct Plan {
  int rounds;
  Millis loaded;
  Millis idle;
  Millis warm_up;
};
constexpr Plan kFull{8, Millis(4000), Millis(1500), Millis(1000)};
constexpr Plan kQuick{4, Millis(2000), Millis(700), Millis(500)};

// Enough that no slot waits for the client: its round trip hides behind as many queued jobs again.
constexpr std::uint64_t kInFlightPerCore = 8;

class Bench {
 public:
  Bench(Client& client, std::string binaries, const Options& options)
      : client_(client), binaries_(std::move(binaries)), options_(options) {}

  Result<Comparison> Compare(const Workload& workload, const std::string& path) {
    const Plan plan = options_.quick ? kQuick : kFull;
    const std::uint64_t in_flight = kInFlightPerCore * options_.processes;
    Comparison comparison;
    comparison.workload = workload.name;
    if (auto warm = LoadStack(client_, workload, plan.warm_up, in_flight); !warm) return Fail(warm.error());
    for (int round = 0; round < plan.rounds; ++round) {
      auto bare = RunBareLoops({binaries_ + "/skerry-bench-bare", path, plan.loaded, options_.processes});
      if (!bare) return Fail(bare.error());
      comparison.bare_jobs_per_second += *bare / plan.rounds;
      auto loaded = LoadStack(client_, workload, plan.loaded, in_flight);
      if (!loaded) return Fail(loaded.error());
      comparison.loaded.Add(*loaded);
      auto idle = LoadStack(client_, workload, plan.idle, 1);
      if (!idle) return Fail(idle.error());
      comparison.idle.Add(*idle);
    }
    return comparison;
  }

 private:
  Client& client_;
  const std::string binaries_;
  const Options& options_;
};

Status Run(const Options& options) {
  auto folder = cli::OwnFolder();
  if (!folder) return Fail(folder.error());
  auto pool = cli::PrivatePool::Start({});
  if (!pool) return Fail(pool.error());
  ClientOptions connection;
  connection.broker = (*pool)->endpoint();
  auto client = Client::Connect(connection);
  if (!client) return Fail(client.error());
  Bench bench(**client, *folder, options);
  if (!options.json) std::printf("%s\n", TableHead().c_str());
  for (const std::string& name : options.workloads) {
    const std::string path = SKERRY_WORKLOADS "/" + name + ".json";
    auto workload = LoadWorkload(path);
    if (!workload) return Fail(workload.error());
    auto comparison = bench.Compare(*workload, path);
    if (!comparison) return Fail(comparison.error());
    std::printf("%s\n", options.json ? JsonLine(*comparison).c_str() : TableRow(*comparison).c_str());
    std::fflush(stdout);
  }
  if (!options.json) {
    std::printf("ratio: stack over bare (%u processes, a fresh isolate per job, no limits, no containment)\n",
                options.processes);
  }
  return {};
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) {
  skerry::bench::Options options;
  CLI::App app(std::string("Measures the stack beside a bare V8 loop.\n\n") + skerry::bench::kExamples,
               "skerry-bench");
  app.add_option("workloads", options.workloads, "trivial, tool (default: both)")
      ->check(CLI::IsMember({"trivial", "tool"}));
  app.add_flag("--json", options.json, "one JSON object a line");
  app.add_flag("--quick", options.quick, "shorter rounds: within a minute");
  app.add_option("--processes", options.processes, "bare loops beside each other (default: cores)")
      ->check(CLI::Range(1u, 1024u));
  CLI11_PARSE(app, argc, argv);
  if (options.workloads.empty()) options.workloads = {"trivial", "tool"};
  if (auto status = skerry::bench::Run(options); !status) {
    std::fprintf(stderr, "skerry-bench: %s\n", status.error().message.c_str());
    return 1;
  }
  return 0;
}
