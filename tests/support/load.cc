#include "tests/support/load.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "clients/cli/job_line.h"
#include "clients/cli/result_line.h"
#include "clients/cpp/client.h"

namespace skerry::testing {

// What is under way, in the load's own thread.
struct Load::Run {
  struct UnderWay {
    TimePoint due;
    std::string events;  // inside of the result line's array
    TimePoint cancelled = {};
  };

  std::unique_ptr<Client> client;
  cli::JobLineParser parser{{}};
  std::map<std::string, UnderWay> under_way = {};
  std::map<std::string, Finished> ended = {};
  std::optional<std::string> fault = std::nullopt;
  std::uint64_t submitted = 0;
  std::multimap<TimePoint, JobId> cancels = {};

  void CancelDue(TimePoint now) {
    for (; !cancels.empty() && cancels.begin()->first <= now; cancels.erase(cancels.begin())) {
      const auto job = under_way.find(cancels.begin()->second.str());
      if (job == under_way.end()) continue;
      job->second.cancelled = now;
      client->Cancel(cancels.begin()->second);
    }
  }
  Millis NextCancel(TimePoint now) const {
    if (cancels.empty()) return Millis::max();
    return std::max(std::chrono::ceil<Millis>(cancels.begin()->first - now), Millis(0));
  }

  /// Nothing: it is taken; else why it cannot be.
  std::optional<std::string> Submit(const Job& job, TimePoint due) {
    auto parsed = parser.Parse(job.Line(), ++submitted);
    if (const auto* fault = std::get_if<cli::LineFault>(&parsed)) return fault->error.message;
    auto& request = std::get<cli::JobLine>(parsed).job;
    const auto taken = client->Submit(request);
    if (!taken) return taken.error().message;
    if (*taken == SubmitResult::kFull) return "no room for " + job.id() + ": the window is past the credit";
    under_way[job.id()].due = due;
    return std::nullopt;
  }

  void Handle(const ClientEvent& event) {
    if (const auto* notice = std::get_if<JobNotice>(&event))
      cli::AppendEvent(under_way[notice->id.str()].events, *notice);
    if (const auto* restarted = std::get_if<JobRestarted>(&event))
      under_way[restarted->id.str()].events.clear();
    if (const auto* failed = std::get_if<LinkFailed>(&event)) fault = failed->error.message;
    if (const auto* final = std::get_if<JobFinal>(&event)) End(*final);
  }

  void End(const JobFinal& final) {
    const auto job = under_way.extract(final.id.str());
    if (job.empty()) {
      fault = final.id.str() + " ended twice";
      return;
    }
    std::string line = cli::ResultLine(final.id, cli::Checked(final.outcome), job.mapped().events);
    line.pop_back();  // its newline
    using FloatMillis = std::chrono::duration<double, std::milli>;
    const TimePoint now = SteadyClock::now();
    const FloatMillis latency = now - job.mapped().due;
    const FloatMillis cancel =
        job.mapped().cancelled == TimePoint() ? FloatMillis(0) : now - job.mapped().cancelled;
    auto json = ParseJson(line);
    if (!json) fault = "not a result line: " + line.substr(0, 500);
    ended[final.id.str()] = {JobResult(std::move(json).value_or(Json()), std::move(line)), latency.count(),
                             std::chrono::system_clock::now(), cancel.count()};
  }
};

namespace {

ClientOptions OptionsFor(std::string broker, HostCallHandler on_call) {
  ClientOptions options;
  options.broker = std::move(broker);
  options.on_call = std::move(on_call);
  return options;
}

ClientOptions With(ClientOptions options, std::uint64_t window) {
  options.max_in_flight = window;
  return options;
}

}  // namespace

Load::Load(std::string broker, Pace pace, Source next, HostCallHandler on_call)
    : Load(OptionsFor(std::move(broker), std::move(on_call)), std::move(pace), std::move(next)) {}

Load::Load(ClientOptions options, Pace pace, Source next)
    : options_(With(std::move(options), pace.window)),
      pace_(std::move(pace)),
      next_(std::move(next)),
      thread_([this] { Work(); }) {}

const std::map<std::string, Finished>& Load::Join() {
  if (thread_.joinable()) {
    thread_.join();
    for (const auto& fault : faults_) ADD_FAILURE() << fault;
  }
  return finished_;
}

TimePoint Load::NextDue(TimePoint due, TimePoint now) const {
  if (pace_.gap) return due + pace_.gap();
  return pace_.every == Millis(0) ? now : due + pace_.every;
}

void Load::Work() {
  auto client = Client::Connect(options_);
  if (!client) return faults_.push_back(client.error().message);
  Run run{.client = std::move(*client)};
  bool more = true;
  for (TimePoint due = SteadyClock::now(); faults_.empty() && !abandoned_;) {
    more = more && !stop_;
    if (!more && run.under_way.empty()) return;
    const TimePoint now = SteadyClock::now();
    const bool room = run.under_way.size() < pace_.window;
    if (!room) due = std::max(due, now);
    if (more && room && due <= now) {
      const auto job = next_();
      more = job.has_value();
      if (!more) continue;
      if (auto fault = run.Submit(*job, due)) faults_.push_back(*fault);
      if (pace_.cancel_after) run.cancels.emplace(now + pace_.cancel_after(), JobId(job->id()));
      due = NextDue(due, now);
      continue;
    }
    constexpr Millis kLookUp{50};  // for Stop
    run.CancelDue(now);
    const Millis wait = more && room ? std::chrono::ceil<Millis>(due - now) : kLookUp;
    const auto event = run.client->Next(std::min({wait, kLookUp, run.NextCancel(now)}));
    if (!event) continue;
    run.Handle(*event);
    for (; !run.ended.empty(); ++done_) finished_.insert(run.ended.extract(run.ended.begin()));
    if (run.fault) faults_.push_back(*run.fault);
  }
}

Load::Source Each(std::vector<Job> jobs) {
  return [jobs = std::move(jobs), next = std::size_t{0}]() mutable -> std::optional<Job> {
    return next < jobs.size() ? std::optional(jobs[next++]) : std::nullopt;
  };
}

Load::Source Endless(const std::string& prefix, const Job& like) {
  return [prefix, like, next = 0]() mutable { return like.As(prefix + std::to_string(next++)); };
}

std::function<Micros()> PoissonGaps(double per_second, std::uint64_t seed) {
  return [random = std::mt19937_64(seed), gap = std::exponential_distribution<double>(per_second)]() mutable {
    return std::chrono::duration_cast<Micros>(std::chrono::duration<double>(gap(random)));
  };
}

double Quantile(std::vector<double> values, double part) {
  const auto at = static_cast<std::size_t>(static_cast<double>(values.size() - 1) * part);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values.at(at);
}

std::vector<double> Latencies(const std::map<std::string, Finished>& finished) {
  std::vector<double> latencies;
  for (const auto& [id, job] : finished) latencies.push_back(job.latency_ms);
  return latencies;
}

}  // namespace skerry::testing
