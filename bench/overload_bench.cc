// overload: five times as many jobs as the pool can run. How many it still completes, beside its peak, and
// how soon the others are told OVERLOADED.
#include <unordered_map>

#include "bench/bench.h"
#include "bench/pool.h"
#include "bench/statistics.h"
#include "bench/wire_client.h"

namespace skerry::bench {
namespace {

constexpr double kOffered = 5;
// Some 0.1 s of trivial jobs: deep enough to keep every slot busy.
constexpr const char* kMaxQueued = "128";
constexpr Millis kPatience{20'000};

/// What became of one stretch.
struct Overload {
  double offered_per_second = 0;
  double completed_per_second = 0;
  std::vector<double> refusals_ms;  ///< from the SUBMIT to its OVERLOADED
};

class Offer {
 public:
  Offer(WireClient& client, const Workload& workload, Admission admission)
      : client_(client), workload_(workload), admission_(admission) {}

  /// As many in flight as asked: jobs per second when nothing is refused.
  Result<double> Peak(Millis duration, std::uint64_t in_flight) {
    const TimePoint end = SteadyClock::now() + duration;
    while (SteadyClock::now() < end) {
      while (submitted_.size() < in_flight) Submit();
      if (auto taken = TakeSome(); !taken) return Fail(taken.error());
    }
    const double completed = static_cast<double>(completed_);
    if (auto drained = Drain(); !drained) return Fail(drained.error());
    return completed / Seconds(duration);
  }

  /// So many a second, whatever becomes of them.
  Result<Overload> At(double per_second, Millis duration) {
    const TimePoint begin = SteadyClock::now();
    std::uint64_t offered = 0;
    for (TimePoint now = begin; now < begin + duration; now = SteadyClock::now()) {
      const double due = per_second * MillisBetween(begin, now) / 1000;
      for (; static_cast<double>(offered) < due; ++offered) Submit();
      if (auto taken = Take(Millis(1)); !taken) return Fail(taken.error());
    }
    const double completed = static_cast<double>(completed_);
    if (auto drained = Drain(); !drained) return Fail(drained.error());
    return Overload{static_cast<double>(offered) / Seconds(duration), completed / Seconds(duration),
                    std::move(refusals_ms_)};
  }

 private:
  static double Seconds(Millis duration) { return std::chrono::duration<double>(duration).count(); }

  void Submit() {
    static std::uint64_t next_id = 0;
    JobSpec job;
    job.id = JobId("b" + std::to_string(next_id++));
    job.admission = admission_;
    submitted_.emplace(job.id, SteadyClock::now());
    client_.Submit(job, workload_.code, workload_.input);
  }

  /// What has come, waiting for the first of it; how many jobs have ended.
  Result<std::size_t> Take(Millis patience) {
    for (std::size_t ended = 0;; ++ended, patience = Millis(0)) {
      auto final = client_.NextFinal(patience);
      if (!final) return Fail(final.error());
      if (!*final) return ended;
      if (auto counted = Count(**final); !counted) return Fail(counted.error());
    }
  }

  Status TakeSome() {
    const auto ended = Take(kPatience);
    if (!ended) return Fail(ended.error());
    if (*ended == 0) return Fail(ErrorKind::kUnavailable, "no job has ended for 20 s");
    return {};
  }

  Status Count(const wire::Final& final) {
    const auto job = submitted_.find(final.id);
    if (job == submitted_.end()) return {};
    if (final.ok) {
      ++completed_;
    } else if (final.code == Code::kOverloaded) {
      refusals_ms_.push_back(MillisBetween(job->second, SteadyClock::now()));
    } else {
      return Fail(ErrorKind::kInternal, "a job ended as " + std::string(NameOf(final.code)));
    }
    submitted_.erase(job);
    return {};
  }

  Status Drain() {
    while (!submitted_.empty()) {
      if (auto taken = TakeSome(); !taken) return taken;
    }
    return {};
  }

  WireClient& client_;
  const Workload& workload_;
  const Admission admission_;
  std::unordered_map<JobId, TimePoint> submitted_;  // and not ended
  std::uint64_t completed_ = 0;
  std::vector<double> refusals_ms_;
};

/// One admission's stretches.
struct Series {
  Admission admission;
  std::vector<double> offered;
  std::vector<double> refused;
  std::vector<double> refusals_ms;

  Side AsSide(WireClient& client, const Workload& workload, const double& peak, Millis duration) {
    return {"5x, " + std::string(NameOf(admission)), [&, duration]() -> Result<double> {
              auto overload = Offer(client, workload, admission).At(kOffered * peak, duration);
              if (!overload) return Fail(overload.error());
              offered.push_back(overload->offered_per_second);
              refused.push_back(static_cast<double>(overload->refusals_ms.size()) /
                                (static_cast<double>(duration.count()) / 1000));
              refusals_ms.insert(refusals_ms.end(), overload->refusals_ms.begin(),
                                 overload->refusals_ms.end());
              return overload->completed_per_second;
            }};
  }
};

Status Measure(const Setting& setting, WireClient& client, const Workload& workload) {
  const Plan& plan = setting.plan;
  double last_peak = 0;
  const auto peak = [&]() -> Result<double> {
    auto measured = Offer(client, workload, Admission::kQueue).Peak(plan.stretch, setting.in_flight());
    if (measured) last_peak = *measured;
    return measured;
  };
  if (auto warm = peak(); !warm) return Fail(warm.error());
  Series queue{Admission::kQueue, {}, {}, {}};
  Series fail_fast{Admission::kFailFast, {}, {}, {}};
  const auto measured = Interleave({{"peak", peak},
                                    queue.AsSide(client, workload, last_peak, plan.stretch),
                                    fail_fast.AsSide(client, workload, last_peak, plan.stretch)},
                                   plan.rounds, *setting.progress);
  if (!measured) return Fail(measured.error());
  setting.progress->Clear();
  for (std::size_t side = 1; side <= 2; ++side) {
    const Series& series = side == 1 ? queue : fail_fast;
    setting.report->Add(Row()
                            .Text("workload", workload.name)
                            .Text("admission", std::string(NameOf(series.admission)))
                            .Number("offeredPerSecond", Median(series.offered), 0)
                            .Number("refusedPerSecond", Median(series.refused), 0)
                            .Number("refusalP50Ms", Percentile(series.refusals_ms, 0.5), 2)
                            .Number("refusalP99Ms", Percentile(series.refusals_ms, 0.99), 2)
                            .Number("jobsPerSecond", Median((*measured)[side]), 0)
                            .Text("baseline", "peak")
                            .Number("baselineJobsPerSecond", Median((*measured)[0]), 0)
                            .Number("ratio", MedianRatio((*measured)[side], (*measured)[0]), 2));
  }
  return {};
}

}  // namespace

Status RunOverloadBench(const Setting& setting) {
  const auto workloads = setting.WorkloadsOr({"trivial"});
  if (!workloads) return Fail(workloads.error());
  auto pool = Pool::Start(setting.binaries, {.broker = {"--max-queued", kMaxQueued}});
  if (!pool) return Fail(pool.error());
  zmq::context_t context;
  for (const Workload& workload : *workloads) {
    if (!workload.answer.empty()) {
      setting.report->Skip(workload.name, "this bench's client answers no host calls");
      continue;
    }
    WireClient client(context, (*pool)->clients(), FarSide::kBroker);
    if (auto greeted = client.Greet(); !greeted) return greeted;
    if (auto measured = Measure(setting, client, workload); !measured) return measured;
  }
  setting.report->Note("ratio: completed jobs/s at 5 times the peak, over the peak; at most " +
                       std::string(kMaxQueued) + " jobs wait");
  return {};
}

}  // namespace skerry::bench
