#include "bench/stack_load.h"

#include <atomic>
#include <thread>
#include <unordered_map>
#include <variant>

namespace skerry::bench {
namespace {

// Past any job of these workloads: what is not back by then is lost.
constexpr Millis kPatience{20'000};

/// Unique across stretches: a client's ids are never used twice.
JobId NextId() {
  static std::uint64_t next_id = 0;
  return JobId("b" + std::to_string(next_id++));
}

JobRequest RequestOf(const Workload& workload, JobId id) {
  JobRequest request;
  request.spec.id = std::move(id);
  request.code = workload.code;
  request.input = workload.input;
  return request;
}

/// The next job that has ended, nothing within `patience`, or why it counts for nothing.
Result<std::optional<JobId>> NextEnded(Client& client, const Workload& workload, Millis patience) {
  auto event = client.Next(patience);
  if (!event) return std::nullopt;
  if (const auto* failed = std::get_if<LinkFailed>(&*event)) return Fail(failed->error);
  const auto* final = std::get_if<JobFinal>(&*event);
  if (final == nullptr) return std::nullopt;
  if (final->outcome.ok()) return final->id;
  return Fail(ErrorKind::kInternal, workload.name + " failed: " + final->outcome.error->message);
}

}  // namespace

Result<std::unique_ptr<Client>> ConnectFor(const Workload& workload, const std::string& endpoint) {
  ClientOptions options;
  options.broker = endpoint;
  options.host_call_threads = 0;  // the handler never blocks
  if (!workload.answer.empty()) {
    options.on_call = [answer = workload.answer](const JobId&, std::string_view, std::string_view) {
      return HostReply{HostReply::Kind::kValue, answer, Millis(0)};
    };
  }
  return Client::Connect(options);
}

Result<Sample> LoadStack(Client& client, const Workload& workload, Millis duration, std::uint64_t in_flight) {
  const TimePoint begin = SteadyClock::now();
  const TimePoint end = begin + duration;
  std::unordered_map<JobId, TimePoint> started;
  Sample sample;
  TimePoint last_progress = begin;
  while (SteadyClock::now() < end || !started.empty()) {
    while (SteadyClock::now() < end && started.size() < in_flight) {
      const JobId id = NextId();
      JobRequest request = RequestOf(workload, id);
      const TimePoint now = SteadyClock::now();
      const auto submitted = client.Submit(request);
      if (!submitted) return Fail(submitted.error());
      if (*submitted == SubmitResult::kFull) break;
      started.emplace(id, now);
    }
    const auto ended = NextEnded(client, workload, Millis(100));
    if (!ended) return Fail(ended.error());
    const TimePoint now = SteadyClock::now();
    if (*ended) {
      const auto job = started.find(**ended);
      if (job == started.end()) continue;
      sample.latencies_ms.push_back(MillisBetween(job->second, now));
      started.erase(job);
      last_progress = now;
    }
    if (now - last_progress > kPatience) return Fail(ErrorKind::kUnavailable, "no job has ended for 20 s");
  }
  sample.seconds = MillisBetween(begin, SteadyClock::now()) / 1000;
  return sample;
}

Result<Sample> PaceStack(Client& client, const Workload& workload, const std::vector<Micros>& arrivals) {
  const TimePoint begin = SteadyClock::now();
  std::unordered_map<JobId, TimePoint> due;
  std::vector<JobId> ids;
  for (const Micros at : arrivals) {
    ids.push_back(NextId());
    due.emplace(ids.back(), begin + at);
  }
  std::atomic<bool> stop = false;
  std::atomic<bool> refused = false;
  std::thread submitter([&] {
    for (std::size_t i = 0; i < arrivals.size() && !stop; ++i) {
      std::this_thread::sleep_until(begin + arrivals[i]);
      JobRequest request = RequestOf(workload, ids[i]);
      const auto submitted = client.Submit(request);
      if (!submitted || *submitted == SubmitResult::kFull) refused = stop = true;
    }
  });
  Sample sample;
  Status status;
  TimePoint last_progress = begin;
  while (status && !refused && sample.latencies_ms.size() < arrivals.size()) {
    const auto ended = NextEnded(client, workload, Millis(100));
    const TimePoint now = SteadyClock::now();
    if (!ended) {
      status = Fail(ended.error());
    } else if (*ended) {
      sample.latencies_ms.push_back(MillisBetween(due.at(**ended), now));
      last_progress = now;
    } else if (now - last_progress > kPatience) {
      status = Fail(ErrorKind::kUnavailable, "no job has ended for 20 s");
    }
  }
  stop = true;
  submitter.join();
  if (!status) return Fail(status.error());
  if (refused)
    return Fail(ErrorKind::kExhausted, "the pool does not keep up with half of its own throughput");
  sample.seconds = MillisBetween(begin, SteadyClock::now()) / 1000;
  return sample;
}

}  // namespace skerry::bench
