// broker: jobs per second through the real broker with stub workers, beside libzmq's own proxy with the same
// messages and windows; what a queued job takes; what a job costs the core as everything grows by 10×.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench.h"
#include "bench/core_load.h"
#include "bench/pool.h"
#include "bench/process_times.h"
#include "bench/statistics.h"
#include "bench/stub_worker.h"
#include "bench/wire_client.h"

namespace skerry::bench {
namespace {

// As the measurement of a bare relay that the target was set beside.
constexpr std::uint64_t kWindow = 256;
constexpr Millis kPatience{20'000};

/// A stub worker and a client with a relay or broker between them.
class Line {
 public:
  Line(const std::string& front, const std::string& back, FarSide far_side, pid_t middle)
      : middle_(middle), worker_(back, far_side, kWindow, "42"), client_(context_, front, far_side) {}

  Status Greet() { return client_.Greet(); }

  /// Keeps the window full; jobs per second.
  Result<double> Run(const Workload& workload, Millis duration) {
    const auto cpu_before = ReadProcessTimes(middle_);
    if (!cpu_before) return Fail(cpu_before.error());
    const TimePoint begin = SteadyClock::now();
    const TimePoint end = begin + duration;
    std::uint64_t in_flight = 0;
    std::uint64_t done = 0;
    while (SteadyClock::now() < end || in_flight > 0) {
      for (; in_flight < kWindow && SteadyClock::now() < end; ++in_flight) {
        JobSpec job;
        job.id = JobId("b" + std::to_string(next_id_++));
        client_.Submit(job, workload.code, workload.input);
      }
      auto final = client_.NextFinal(kPatience);
      if (!final) return Fail(final.error());
      if (!*final) return Fail(ErrorKind::kUnavailable, "no job has ended for 20 s");
      if (!(*final)->ok) return Fail(ErrorKind::kInternal, "a stub worker's job has failed");
      --in_flight;
      ++done;
    }
    const auto cpu_after = ReadProcessTimes(middle_);
    if (!cpu_after) return Fail(cpu_after.error());
    const double jobs = static_cast<double>(done);
    cpu_us_per_job_.push_back((cpu_after->own - cpu_before->own).cpu_us() / jobs);
    return jobs / (MillisBetween(begin, SteadyClock::now()) / 1000);
  }

  /// What the process in the middle used for each, by round.
  const std::vector<double>& cpu_us_per_job() const { return cpu_us_per_job_; }
  void Forget() { cpu_us_per_job_.clear(); }

 private:
  const pid_t middle_;
  zmq::context_t context_;
  StubWorker worker_;
  WireClient client_;
  std::uint64_t next_id_ = 0;
  std::vector<double> cpu_us_per_job_;
};

Status MeasureThroughput(const Setting& setting) {
  const auto workloads = setting.WorkloadsOr({"trivial", "tool", "large"});
  if (!workloads) return Fail(workloads.error());
  auto pool = Pool::Start(setting.binaries, {.broker = {}, .worker = std::nullopt});
  if (!pool) return Fail(pool.error());
  auto folder = cli::PoolFolder::Make({"TMPDIR"});
  if (!folder) return Fail(folder.error());
  const std::string front = folder->Endpoint("front");
  const std::string back = folder->Endpoint("back");
  auto proxy = cli::ChildProcess::Start(setting.binaries + "/skerry-bench-relay", {"proxy", front, back});
  if (!proxy) return Fail(proxy.error());
  for (const std::string& endpoint : {front, back}) {
    if (auto bound = AwaitBound(*proxy, endpoint); !bound) return bound;
  }
  Line through_broker((*pool)->clients(), (*pool)->workers(), FarSide::kBroker, (*pool)->broker_pid());
  if (auto greeted = through_broker.Greet(); !greeted) return greeted;
  Line through_proxy(front, back, FarSide::kRelay, proxy->pid());
  for (const Workload& workload : *workloads) {
    for (Line* line : {&through_broker, &through_proxy}) {
      if (auto warm = line->Run(workload, setting.plan.warm_up); !warm) return Fail(warm.error());
      line->Forget();
    }
    const auto side = [&](const char* name, Line& line) {
      return Side{workload.name + name, [&] { return line.Run(workload, setting.plan.stretch); }};
    };
    const auto measured =
        Interleave({side(" through the broker", through_broker), side(" through zmq_proxy", through_proxy)},
                   setting.plan.rounds, *setting.progress);
    if (!measured) return Fail(measured.error());
    setting.progress->Clear();
    setting.report->Add(Row()
                            .Text("workload", workload.name)
                            .Number("jobsPerSecond", Median((*measured)[0]), 0)
                            .Number("brokerCpuUs", Median(through_broker.cpu_us_per_job()), 1)
                            .Text("baseline", "zmq_proxy")
                            .Number("baselineJobsPerSecond", Median((*measured)[1]), 0)
                            .Number("proxyCpuUs", Median(through_proxy.cpu_us_per_job()), 1)
                            .Number("ratio", MedianRatio((*measured)[0], (*measured)[1]), 2));
  }
  return {};
}

constexpr std::size_t kCodeBytes = 24;
constexpr std::size_t kInputBytes = 17;

/// Until the broker has said that it holds them all.
Status Queue(WireClient& client, std::uint64_t jobs) {
  const std::string code(kCodeBytes, 'c');
  const std::string input(kInputBytes, '1');
  const std::uint64_t before = client.accepted();
  for (std::uint64_t i = before; i < before + jobs; ++i) {
    JobSpec job;
    job.id = JobId("b" + std::to_string(i));
    client.Submit(job, code, input);
  }
  for (const TimePoint end = SteadyClock::now() + kPatience; client.accepted() < before + jobs;) {
    if (SteadyClock::now() > end)
      return Fail(ErrorKind::kUnavailable,
                  "the broker does not take " + std::to_string(jobs) + " jobs in 20 s");
    const auto refused = client.NextFinal(Millis(1));
    if (!refused) return Fail(refused.error());
    if (*refused) return Fail(ErrorKind::kInternal, "the broker has refused a job that it had room for");
  }
  return {};
}

struct Resident {
  double per_client = 0;  ///< its buffers for jobs that come and go included
  double per_job = 0;     ///< its own code and input left out
};

constexpr std::uint64_t kQueueingClients = 100;
constexpr std::uint64_t kFewJobs = 500;  // of each
constexpr std::uint64_t kManyJobs = 2'500;

/// Bytes in a real broker that has nobody to run the jobs. Two loads tell jobs from clients.
Result<Resident> ResidentBytes(const Setting& setting) {
  auto pool =
      Pool::Start(setting.binaries, {.broker = {"--max-queued", std::to_string(kQueueingClients * kManyJobs),
                                                "--client-credit", std::to_string(kManyJobs)},
                                     .worker = std::nullopt});
  if (!pool) return Fail(pool.error());
  const auto before = ReadResidentBytes((*pool)->broker_pid());
  if (!before) return Fail(before.error());
  zmq::context_t context;
  std::vector<std::unique_ptr<WireClient>> clients;
  for (std::uint64_t i = 0; i < kQueueingClients; ++i) {
    clients.push_back(std::make_unique<WireClient>(context, (*pool)->clients(), FarSide::kBroker));
    if (auto greeted = clients.back()->Greet(Hears::kAccepted); !greeted) return Fail(greeted.error());
  }
  std::vector<double> resident;
  for (const std::uint64_t jobs : {kFewJobs, kManyJobs - kFewJobs}) {
    for (const auto& client : clients) {
      if (auto queued = Queue(*client, jobs); !queued) return Fail(queued.error());
    }
    const auto bytes = ReadResidentBytes((*pool)->broker_pid());
    if (!bytes) return Fail(bytes.error());
    resident.push_back(static_cast<double>(*bytes));
  }
  constexpr auto kClients = static_cast<double>(kQueueingClients);
  const double per_job = (resident[1] - resident[0]) / (kClients * (kManyJobs - kFewJobs));
  return Resident{(resident[0] - static_cast<double>(*before)) / kClients - kFewJobs * per_job,
                  per_job - static_cast<double>(kCodeBytes + kInputBytes)};
}

Status MeasureMemory(const Setting& setting) {
  constexpr std::uint64_t kQueued = kQueueingClients * kManyJobs;
  setting.progress->Say("memory of " + std::to_string(kQueued) + " queued jobs");
  const auto resident = ResidentBytes(setting);
  if (!resident) return Fail(resident.error());
  setting.progress->Clear();
  setting.report->Add(Row()
                          .Number("queued", static_cast<double>(kQueued), 0)
                          .Number("residentBytesPerJob", resident->per_job, 0)
                          .Number("coreHeapBytesPerJob", CoreBytesPerQueuedJob(100'000), 0)
                          .Number("residentBytesPerClient", resident->per_client, 0));
  setting.report->Note("beyond a job's own code and input");
  return {};
}

Status MeasureGrowth(const Setting& setting) {
  constexpr CoreSize kBase{10, 10, 1'000};
  std::vector<std::pair<std::string, CoreSize>> sizes;
  for (std::uint64_t n = 1; n <= setting.plan.largest; n *= 10)
    sizes.emplace_back("workers", CoreSize{n, kBase.tenants, kBase.queued});
  for (std::uint64_t n = 1; n <= setting.plan.largest; n *= 10)
    sizes.emplace_back("tenants", CoreSize{kBase.workers, n, kBase.queued});
  for (std::uint64_t n = 1'000; n <= 100'000; n *= 10)
    sizes.emplace_back("queued", CoreSize{kBase.workers, kBase.tenants, n});
  const std::uint64_t most = setting.plan.largest;
  sizes.emplace_back("both", CoreSize{most, most, 2 * most});
  CoreLoad base(kBase);
  const Millis stretch = setting.plan.stretch / 6;
  for (const auto& [grows, size] : sizes) {
    setting.progress->Say("the core with " + std::to_string(size.workers) + " workers, " +
                          std::to_string(size.tenants) + " tenants");
    CoreLoad load(size);
    if (auto warm = load.NsPerJob(stretch / 4); !warm) return Fail(warm.error());
    const auto measured = Interleave({{"core", [&] { return load.NsPerJob(stretch); }},
                                      {"core of the base", [&] { return base.NsPerJob(stretch); }}},
                                     setting.plan.rounds, *setting.progress);
    if (!measured) return Fail(measured.error());
    setting.progress->Clear();
    setting.report->Add(Row()
                            .Text("grows", grows)
                            .Number("workers", static_cast<double>(size.workers), 0)
                            .Number("tenants", static_cast<double>(size.tenants), 0)
                            .Number("queued", static_cast<double>(size.queued), 0)
                            .Number("nsPerJob", Median((*measured)[0]), 0)
                            .Text("baseline", "10/10/1000")
                            .Number("ratio", MedianRatio((*measured)[0], (*measured)[1]), 2));
  }
  setting.report->Note("nsPerJob: FINAL in, next job dispatched, ACK and SUBMIT in; core only, no sockets");
  return {};
}

}  // namespace

Status RunBrokerBench(const Setting& setting) {
  if (auto status = MeasureThroughput(setting); !status) return status;
  if (auto status = MeasureMemory(setting); !status) return status;
  return MeasureGrowth(setting);
}

}  // namespace skerry::bench
