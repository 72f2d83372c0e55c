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
  };

  std::unique_ptr<Client> client;
  cli::JobLineParser parser{{}};
  std::map<std::string, UnderWay> under_way = {};
  std::map<std::string, Finished> ended = {};
  std::optional<std::string> fault = std::nullopt;
  std::uint64_t submitted = 0;

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
    const std::chrono::duration<double, std::milli> latency = SteadyClock::now() - job.mapped().due;
    auto json = ParseJson(line);
    if (!json) fault = "not a result line: " + line.substr(0, 500);
    ended[final.id.str()] = {JobResult(std::move(json).value_or(Json()), std::move(line)), latency.count()};
  }
};

Load::Load(std::string broker, Pace pace, Source next, HostCallHandler on_call)
    : pace_(pace),
      next_(std::move(next)),
      on_call_(std::move(on_call)),
      thread_([this, broker = std::move(broker)] { Work(broker); }) {}

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

void Load::Work(const std::string& broker) {
  ClientOptions options;
  options.broker = broker;
  options.max_in_flight = pace_.window;
  options.on_call = on_call_;
  auto client = Client::Connect(options);
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
      due = NextDue(due, now);
      continue;
    }
    constexpr Millis kLookUp{50};  // for Stop
    const Millis wait = more && room ? std::chrono::ceil<Millis>(due - now) : kLookUp;
    const auto event = run.client->Next(std::min(wait, kLookUp));
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
