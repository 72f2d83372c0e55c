// scaling: what two and four worker processes do beside one, and what a job costs the core of a broker of ten
// thousand workers and tenants.
//
// Jobs wait 20 ms for a host call and compute next to nothing, and workers have two slots each: what is
// measured is whether broker, links and client feed four workers as well as one, on two cores as well. With
// jobs that compute, four workers on two cores would measure the cores.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench.h"
#include "bench/core_load.h"
#include "bench/pool.h"
#include "bench/process_times.h"
#include "bench/stack_load.h"
#include "bench/statistics.h"

namespace skerry::bench {
namespace {

constexpr Millis kSleep{20};
constexpr std::uint64_t kSlots = 2;
// So that a slot that frees never waits for the client.
constexpr std::uint64_t kInFlightPerSlot = 4;
constexpr std::uint64_t kMany = 10'000;
constexpr int kWarmUps = 100;

struct Aim {
  std::size_t workers;
  double ratio;
};
constexpr Aim kAims[] = {{1, 1.0}, {2, 1.8}, {4, 3.4}};

Workload Sleeping() {
  Workload workload;
  workload.name = "sleep" + std::to_string(kSleep.count()) + "ms";
  workload.code = "await dataProxy.request('sleep'); return 1";
  return workload;
}

/// A broker with so many workers, and its client.
class Group {
 public:
  static Result<std::unique_ptr<Group>> Start(const Setting& setting, std::size_t workers) {
    std::unique_ptr<Group> group(new Group(workers));
    auto pool = Pool::Start(setting.binaries, {.broker = {}, .worker = std::nullopt});
    if (!pool) return Fail(pool.error());
    group->pool_ = std::move(*pool);
    for (std::size_t i = 0; i < workers; ++i) {
      if (auto added = group->pool_->AddWorker(
              setting.binaries, {"--isolates", std::to_string(kSlots), "--spares", std::to_string(kSlots)});
          !added)
        return Fail(added.error());
    }
    ClientOptions options;
    options.broker = group->pool_->clients();
    options.host_call_threads = 0;  // the handler never blocks: the client waits the 20 ms out
    options.on_call = [](const JobId&, std::string_view, std::string_view) {
      return HostReply{HostReply::Kind::kValue, "1", kSleep};
    };
    auto client = Client::Connect(options);
    if (!client) return Fail(client.error());
    group->client_ = std::move(*client);
    return group;
  }

  std::size_t workers() const { return workers_; }
  /// Until all of its workers run jobs: those that still start are not what is measured.
  Status WarmUp(Millis duration) {
    for (int i = 0; i < kWarmUps; ++i) {
      const auto before = LeastReaped();
      if (auto warm = JobsPerSecond(duration); !warm) return Fail(warm.error());
      const auto after = LeastReaped();
      if (!before || !after) return Fail(before ? after.error() : before.error());
      if (*before > 0 && *after > *before) return {};
    }
    return Fail(ErrorKind::kUnavailable, "not all workers run jobs");
  }
  Result<double> JobsPerSecond(Millis duration) {
    const auto sample = LoadStack(*client_, workload_, duration, workers_ * kSlots * kInFlightPerSlot);
    if (!sample) return Fail(sample.error());
    return sample->JobsPerSecond();
  }

 private:
  explicit Group(std::size_t workers) : workers_(workers) {}

  /// CPU time of what has ended under the worker that has seen least of it, us.
  Result<double> LeastReaped() const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < workers_; ++i) {
      const auto times = ReadProcessTimes(pool_->worker_pid(i));
      if (!times) return Fail(times.error());
      least = std::min(least, times->reaped.cpu_us());
    }
    return least;
  }

  const std::size_t workers_;
  const Workload workload_ = Sleeping();
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Client> client_;  // before its pool ends
};

Status MeasureWorkers(const Setting& setting) {
  std::vector<std::unique_ptr<Group>> groups;
  std::vector<Side> sides;
  for (const Aim& aim : kAims) {
    setting.progress->Say("starting " + std::to_string(aim.workers) + " workers");
    auto group = Group::Start(setting, aim.workers);
    if (!group) return Fail(group.error());
    if (auto warm = (*group)->WarmUp(setting.plan.warm_up); !warm) return warm;
    groups.push_back(std::move(*group));
    sides.push_back({std::to_string(aim.workers) + " workers",
                     [group = groups.back().get(), stretch = setting.plan.stretch] {
                       return group->JobsPerSecond(stretch);
                     }});
  }
  const auto measured = Interleave(sides, setting.plan.rounds, *setting.progress);
  if (!measured) return Fail(measured.error());
  setting.progress->Clear();
  for (std::size_t i = 1; i < groups.size(); ++i) {
    setting.report->Add(Row()
                            .Text("workload", Sleeping().name)
                            .Number("workers", static_cast<double>(groups[i]->workers()), 0)
                            .Number("jobsPerSecond", Median((*measured)[i]), 0)
                            .Text("baseline", "1 worker")
                            .Number("baselineJobsPerSecond", Median((*measured)[0]), 0)
                            .Number("ratio", MedianRatio((*measured)[i], (*measured)[0]), 2)
                            .Number("aim", kAims[i].ratio, 1));
  }
  setting.report->Note("worker processes of " + std::to_string(kSlots) +
                       " slots each, one broker, one client");
  return {};
}

Status MeasureCore(const Setting& setting) {
  setting.progress->Say("the core of a broker with 10,000 workers and 10,000 tenants");
  CoreLoad load({kMany, kMany, 2 * kMany});
  const Millis stretch = setting.plan.stretch / 2;
  if (auto warm = load.NsPerJob(stretch); !warm) return Fail(warm.error());
  const auto measured =
      Interleave({{"core", [&] { return load.NsPerJob(stretch); }}}, setting.plan.rounds, *setting.progress);
  if (!measured) return Fail(measured.error());
  setting.progress->Clear();
  setting.report->Add(Row()
                          .Text("core", "simulated")
                          .Number("workers", kMany, 0)
                          .Number("tenants", kMany, 0)
                          .Number("queued", 2 * kMany, 0)
                          .Number("usPerJob", Median((*measured)[0]) / 1000, 2)
                          .Number("aim", 20, 0));
  setting.report->Note("a job's whole way: FINAL in, next job dispatched, ACK and SUBMIT in; no sockets");
  return {};
}

}  // namespace

Status RunScalingBench(const Setting& setting) {
  if (auto status = MeasureWorkers(setting); !status) return status;
  return MeasureCore(setting);
}

}  // namespace skerry::bench
