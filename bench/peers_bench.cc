// peers: the stack beside what others would run such jobs in, each with a fresh isolate, context or process
// for every job. The drivers are in bench/peers/; their packages are installed into the build folder.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/bench.h"
#include "bench/pool.h"
#include "bench/stack_load.h"
#include "bench/statistics.h"
#include "common/hash.h"

namespace skerry::bench {
namespace {

const std::vector<std::string> kPeers = {"isolated-vm", "worker_threads", "node", "workerd", "quickjs"};

/// What a driver prints (bench/peers/run.mjs).
struct PeerFigures {
  double jobs_per_second = 0;
  std::string value_sha256;
};

Result<std::string> OutputOf(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return FailErrno("popen");
  std::string output;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  if (pclose(pipe) == 0) return output;
  // The last line says what is wrong.
  while (output.ends_with('\n')) output.pop_back();
  return Fail(ErrorKind::kUnavailable, output.substr(output.rfind('\n') + 1));
}

std::string Quoted(const std::string& text) {
  return "'" + text + "'";
}

class Peers {
 public:
  explicit Peers(const Setting& setting)
      : setting_(setting), modules_(std::filesystem::path(setting.binaries).parent_path() / "bench-peers") {}

  /// Nothing to do where the lockfile's packages are there already.
  Status Install() const {
    setting_.progress->Say("installing peers with npm");
    auto installed = OutputOf(Quoted(SKERRY_PEERS "/install.sh") + " " + Quoted(modules_.string()) + " " +
                              Quoted(SKERRY_NODE_DIR) + " 2>&1");
    if (!installed) return Fail(installed.error());
    return {};
  }

  Result<PeerFigures> Run(const std::string& peer, const Workload& workload, Millis duration) const {
    const std::string command = Quoted(SKERRY_NODE_DIR "/bin/node") + " " + Quoted(SKERRY_PEERS "/run.mjs") +
                                " " + peer + " " + Quoted(workload.path) + " " +
                                std::to_string(duration.count()) + " " + std::to_string(setting_.cores) +
                                " " + Quoted(modules_.string());
    auto output = OutputOf(command);
    if (!output) return Fail(output.error());
    const auto line = nlohmann::json::parse(*output, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) return Fail(ErrorKind::kInternal, peer + "'s driver printed no JSON: " + *output);
    if (line.contains("skip")) return Fail(ErrorKind::kUnavailable, line["skip"].get<std::string>());
    return PeerFigures{line.at("jobsPerSecond").get<double>(), line.at("valueSha256").get<std::string>()};
  }

 private:
  const Setting& setting_;
  const std::filesystem::path modules_;
};

/// The value that all must come to, or they would not have done the same.
Result<std::string> ValueSha256(Client& client, const Workload& workload) {
  JobRequest request;
  request.spec.id = JobId("value");
  request.code = workload.code;
  request.input = workload.input;
  if (auto submitted = client.Submit(request); !submitted) return Fail(submitted.error());
  constexpr Millis kPatience{20'000};
  for (const TimePoint end = SteadyClock::now() + kPatience; SteadyClock::now() < end;) {
    const auto event = client.Next(Millis(100));
    if (!event) continue;
    const auto* final = std::get_if<JobFinal>(&*event);
    if (final != nullptr && final->outcome.ok()) return Hex(Sha256(final->outcome.value));
    if (final != nullptr) return Fail(ErrorKind::kInternal, final->outcome.error->message);
  }
  return Fail(ErrorKind::kUnavailable, "the job for the value has not ended in 20 s");
}

/// The peers that run this workload, and to the same value; the others are reported as skipped.
Result<std::vector<std::string>> Able(const Setting& setting, const Peers& peers, Client& client,
                                      const Workload& workload) {
  const auto expected = ValueSha256(client, workload);
  if (!expected) return Fail(expected.error());
  std::vector<std::string> able;
  for (const std::string& peer : kPeers) {
    setting.progress->Say(workload.name + ", trying " + peer);
    const auto tried = peers.Run(peer, workload, Millis(1));
    setting.progress->Clear();
    if (!tried) {
      setting.report->Skip(peer + " on " + workload.name, tried.error().message);
    } else if (tried->value_sha256 != *expected) {
      setting.report->Skip(peer + " on " + workload.name, "it comes to another value");
    } else {
      able.push_back(peer);
    }
  }
  return able;
}

Status Compare(const Setting& setting, const Pool& pool, const Peers& peers, const Workload& workload) {
  auto client = ConnectFor(workload, pool.clients());
  if (!client) return Fail(client.error());
  const auto able = Able(setting, peers, **client, workload);
  if (!able) return Fail(able.error());
  if (auto warm = LoadStack(**client, workload, setting.plan.warm_up, setting.in_flight()); !warm)
    return Fail(warm.error());
  std::vector<Side> sides = {{workload.name + " through the stack", [&]() -> Result<double> {
                                auto sample =
                                    LoadStack(**client, workload, setting.plan.stretch, setting.in_flight());
                                if (!sample) return Fail(sample.error());
                                return sample->JobsPerSecond();
                              }}};
  for (const std::string& peer : *able) {
    sides.push_back({workload.name + " in " + peer, [&setting, &peers, &workload, peer]() -> Result<double> {
                       const auto figures = peers.Run(peer, workload, setting.plan.stretch);
                       if (!figures) return Fail(figures.error());
                       return figures->jobs_per_second;
                     }});
  }
  const auto measured = Interleave(sides, setting.plan.rounds, *setting.progress);
  if (!measured) return Fail(measured.error());
  setting.progress->Clear();
  for (std::size_t i = 0; i < able->size(); ++i) {
    setting.report->Add(Row()
                            .Text("workload", workload.name)
                            .Number("jobsPerSecond", Median((*measured)[0]), 0)
                            .Text("baseline", (*able)[i])
                            .Number("baselineJobsPerSecond", Median((*measured)[i + 1]), 0)
                            .Number("ratio", MedianRatio((*measured)[0], (*measured)[i + 1]), 2));
  }
  return {};
}

}  // namespace

Status RunPeersBench(const Setting& setting) {
  const auto workloads = setting.WorkloadsOr({"trivial", "tool", "compute", "calls", "large"});
  if (!workloads) return Fail(workloads.error());
  const Peers peers(setting);
  if (auto installed = peers.Install(); !installed) {
    setting.progress->Clear();
    setting.report->Skip("every peer", "npm could not install them: " + installed.error().message);
    return {};
  }
  auto pool = Pool::Start(setting.binaries);
  if (!pool) return Fail(pool.error());
  for (const Workload& workload : *workloads) {
    if (auto compared = Compare(setting, **pool, peers, workload); !compared) return compared;
  }
  setting.report->Note("ratio: jobs/s of the stack over the peer's, each on " +
                       std::to_string(setting.cores) + " cores, a fresh isolate, context or process per job");
  return {};
}

}  // namespace skerry::bench
