// latency: of one job at a time, and of jobs that come at half the pool's throughput, beside a bare ZeroMQ
// round trip over the same hops: client to broker to worker and back, over ipc://, with the same payloads.
#include <functional>
#include <optional>
#include <thread>
#include <zmq.hpp>

#include "bench/arrivals.h"
#include "bench/bench.h"
#include "bench/pool.h"
#include "bench/stack_load.h"
#include "bench/statistics.h"
#include "bench/wire_client.h"

namespace skerry::bench {
namespace {

/// DEALER – ROUTER – ROUTER – DEALER and back, each hop a process of its own.
class RoundTrip {
 public:
  static Result<std::unique_ptr<RoundTrip>> Start(const std::string& binaries) {
    std::unique_ptr<RoundTrip> trip(new RoundTrip());
    auto folder = cli::PoolFolder::Make({"TMPDIR"});
    if (!folder) return Fail(folder.error());
    trip->folder_ = std::move(*folder);
    const std::string front = trip->folder_.Endpoint("front");
    const std::string back = trip->folder_.Endpoint("back");
    const std::string program = binaries + "/skerry-bench-relay";
    auto router = cli::ChildProcess::Start(program, {"router", front, back});
    if (!router) return Fail(router.error());
    trip->router_ = std::move(*router);
    if (auto bound = AwaitBound(*trip->router_, front); !bound) return Fail(bound.error());
    auto echo = cli::ChildProcess::Start(program, {"echo", back});
    if (!echo) return Fail(echo.error());
    trip->echo_ = std::move(*echo);
    trip->socket_.set(zmq::sockopt::linger, 0);
    trip->socket_.set(zmq::sockopt::rcvtimeo, 20'000);
    trip->socket_.connect(front);
    return trip;
  }

  /// One after another, each as soon as the one before is back, or when it is due.
  Result<Sample> Run(const Workload& workload, Millis duration, const std::vector<Micros>* arrivals) {
    JobSpec job;
    job.id = JobId("b0");
    const std::string header = wire::Encode(wire::Submit{job});
    const TimePoint begin = SteadyClock::now();
    Sample sample;
    for (std::size_t i = 0;
         arrivals == nullptr ? SteadyClock::now() < begin + duration : i < arrivals->size(); ++i) {
      if (arrivals != nullptr) std::this_thread::sleep_until(begin + (*arrivals)[i]);
      const TimePoint due = arrivals == nullptr ? SteadyClock::now() : begin + (*arrivals)[i];
      SendFrames(socket_, {header, workload.code, workload.input});
      zmq::message_t frame;
      do {
        if (!socket_.recv(frame)) return Fail(ErrorKind::kUnavailable, "the round trip's message is lost");
      } while (frame.more());
      sample.latencies_ms.push_back(MillisBetween(due, SteadyClock::now()));
    }
    sample.seconds = MillisBetween(begin, SteadyClock::now()) / 1000;
    return sample;
  }

 private:
  RoundTrip() : socket_(context_, zmq::socket_type::dealer) {}

  cli::PoolFolder folder_;
  std::optional<cli::ChildProcess> router_;
  std::optional<cli::ChildProcess> echo_;
  zmq::context_t context_;
  zmq::socket_t socket_;
};

/// A side of the comparison that keeps all it has measured beside its median.
struct Latencies {
  Sample all;
  std::vector<double> p99s;

  Side AsSide(const std::string& name, std::function<Result<Sample>()> measure) {
    return {name, [this, measure = std::move(measure)]() -> Result<double> {
              auto sample = measure();
              if (!sample) return Fail(sample.error());
              all.Add(*sample);
              p99s.push_back(sample->LatencyMs(0.99));
              return sample->LatencyMs(0.5);
            }};
  }
};

struct Load {
  std::string name;
  std::function<Result<Sample>()> stack;
  std::function<Result<Sample>()> trip;
};

Status Compare(const Setting& setting, const Workload& workload, const Load& load) {
  Latencies stack;
  Latencies trip;
  const auto measured = Interleave({stack.AsSide(workload.name + ", " + load.name, load.stack),
                                    trip.AsSide("round trip, " + load.name, load.trip)},
                                   setting.plan.rounds, *setting.progress);
  if (!measured) return Fail(measured.error());
  setting.progress->Clear();
  setting.report->Add(Row()
                          .Text("workload", workload.name)
                          .Text("load", load.name)
                          .Number("p50Ms", stack.all.LatencyMs(0.5), 3)
                          .Number("p90Ms", stack.all.LatencyMs(0.9), 3)
                          .Number("p99Ms", stack.all.LatencyMs(0.99), 3)
                          .Number("p999Ms", stack.all.LatencyMs(0.999), 3)
                          .Text("baseline", "zmqRoundTrip")
                          .Number("baselineP50Ms", trip.all.LatencyMs(0.5), 3)
                          .Number("baselineP99Ms", trip.all.LatencyMs(0.99), 3)
                          .Number("ratio", MedianRatio((*measured)[0], (*measured)[1]), 1)
                          .Number("ratioP99", MedianRatio(stack.p99s, trip.p99s), 1));
  return {};
}

Status Measure(const Setting& setting, const Pool& pool, RoundTrip& trip, const Workload& workload) {
  const Plan& plan = setting.plan;
  auto client = ConnectFor(workload, pool.clients());
  if (!client) return Fail(client.error());
  const auto peak = LoadStack(**client, workload, plan.warm_up + plan.stretch, setting.in_flight());
  if (!peak) return Fail(peak.error());
  const Load one{"one", [&] { return LoadStack(**client, workload, plan.stretch, 1); },
                 [&] { return trip.Run(workload, plan.stretch, nullptr); }};
  if (auto compared = Compare(setting, workload, one); !compared) return compared;
  // The same instants for both sides of a round, others in the next.
  std::uint64_t seed = 0;
  std::vector<Micros> arrivals;
  const Load half{"half",
                  [&] {
                    arrivals = PoissonArrivals(peak->JobsPerSecond() / 2, plan.stretch, ++seed);
                    return PaceStack(**client, workload, arrivals);
                  },
                  [&] { return trip.Run(workload, plan.stretch, &arrivals); }};
  return Compare(setting, workload, half);
}

}  // namespace

Status RunLatencyBench(const Setting& setting) {
  const auto workloads = setting.WorkloadsOr({"trivial"});
  if (!workloads) return Fail(workloads.error());
  auto pool = Pool::Start(setting.binaries);
  if (!pool) return Fail(pool.error());
  auto trip = RoundTrip::Start(setting.binaries);
  if (!trip) return Fail(trip.error());
  for (const Workload& workload : *workloads) {
    if (auto measured = Measure(setting, **pool, **trip, workload); !measured) return measured;
  }
  setting.report->Note(
      "one: at a time; half: Poisson arrivals at half the throughput, from when each was due");
  setting.report->Note("ratio, ratioP99: p50 over p50, p99 over p99 of a bare ZeroMQ round trip");
  return {};
}

}  // namespace skerry::bench
