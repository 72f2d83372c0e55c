#include "bench/stack_load.h"

#include <unordered_map>

namespace skerry::bench {
namespace {

class Loader {
 public:
  Loader(Client& client, const Workload& workload) : client_(client), workload_(workload) {}

  Status SubmitOne() {
    // Unique across stretches: a client's ids are never used twice.
    static std::uint64_t next_id = 0;
    JobRequest request;
    request.spec.id = JobId("b" + std::to_string(next_id++));
    request.code = workload_.code;
    request.input = workload_.input;
    const JobId id = request.spec.id;
    const TimePoint now = SteadyClock::now();
    const auto submitted = client_.Submit(request);
    if (!submitted) return Fail(submitted.error());
    if (*submitted == SubmitResult::kTaken) started_.emplace(id, now);
    return {};
  }

  /// Takes what has arrived; waits for something at most `patience`.
  Status Collect(Millis patience) {
    auto event = client_.Next(patience);
    if (!event) return {};
    if (const auto* failed = std::get_if<LinkFailed>(&*event)) return Fail(failed->error);
    const auto* final = std::get_if<JobFinal>(&*event);
    if (final == nullptr) return {};
    if (!final->outcome.ok()) {
      return Fail(ErrorKind::kInternal, workload_.name + " failed: " + final->outcome.error->message);
    }
    const auto started = started_.find(final->id);
    if (started == started_.end()) return {};
    sample_.latencies_ms.push_back(MillisBetween(started->second, SteadyClock::now()));
    started_.erase(started);
    return {};
  }

  std::size_t in_flight() const { return started_.size(); }
  std::size_t finished() const { return sample_.latencies_ms.size(); }
  Sample Finish(TimePoint begin) {
    sample_.seconds = MillisBetween(begin, SteadyClock::now()) / 1000;
    return std::move(sample_);
  }

 private:
  Client& client_;
  const Workload& workload_;
  std::unordered_map<JobId, TimePoint> started_;
  Sample sample_;
};

}  // namespace

Result<Sample> LoadStack(Client& client, const Workload& workload, Millis duration, std::uint64_t in_flight) {
  // Past any job of these workloads: what is not back by then is lost.
  constexpr Millis kPatience{20'000};
  const TimePoint begin = SteadyClock::now();
  const TimePoint end = begin + duration;
  Loader loader(client, workload);
  TimePoint last_progress = begin;
  while (SteadyClock::now() < end || loader.in_flight() > 0) {
    const std::size_t before = loader.finished();
    while (SteadyClock::now() < end && loader.in_flight() < in_flight) {
      if (auto status = loader.SubmitOne(); !status) return Fail(status.error());
    }
    if (auto status = loader.Collect(Millis(100)); !status) return Fail(status.error());
    if (loader.finished() != before) last_progress = SteadyClock::now();
    if (SteadyClock::now() - last_progress > kPatience) {
      return Fail(ErrorKind::kUnavailable, "no job has ended for 20 s");
    }
  }
  return loader.Finish(begin);
}

}  // namespace skerry::bench
