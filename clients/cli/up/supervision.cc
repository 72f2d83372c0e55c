#include "clients/cli/up/supervision.h"

#include <algorithm>
#include <utility>

#include "clients/cli/exit_codes.h"

namespace skerry::cli {
namespace {

// Doubled with each death: a worker that cannot live must not take the machine with its starts.
constexpr Millis kFirstBackOff{250};
constexpr Millis kLongestBackOff{30'000};
constexpr std::uint32_t kMostDoublings = 7;
// A worker that lived this long was sound: its death is a first one.
constexpr Millis kSoundLife{60'000};

Millis BackOff(std::uint32_t deaths) {
  return std::min(kLongestBackOff, kFirstBackOff * (1 << std::min(deaths - 1, kMostDoublings)));
}

std::string Seconds(Millis time) {
  std::string text = std::to_string(time.count() / 1000);
  if (const auto rest = time.count() % 1000; rest != 0) text += "." + std::to_string(rest / 10);
  return text + " s";
}

std::string NameOf(std::size_t worker) {
  return "worker " + std::to_string(worker + 1);
}

}  // namespace

Supervision::Supervision(std::size_t workers) : workers_(workers) {}

UpActions Supervision::End(int status, std::string why) {
  state_ = UpState::kEnded;
  UpActions actions;
  if (!why.empty()) actions.say.push_back(std::move(why));
  actions.exit = status;
  return actions;
}

UpActions Supervision::OnTrialEnded(const TrialEnd& end) {
  if (state_ != UpState::kStarting) return {};
  if (!end.failed) {
    state_ = UpState::kServing;
    return {};
  }
  const std::string advice = *end.failed == Code::kOverloaded
                                 ? "raise --memory-mb, or lower what a job gets by --ceiling memoryMb=N"
                                 : "skerry doctor says what this machine lacks";
  return End(kExitUnavailable, "not READY: the trial job, one with the default limits, ended with " +
                                   std::string(skerry::NameOf(*end.failed)) + " (" + end.message + "); " +
                                   advice);
}

UpActions Supervision::OnWorkerStarted(std::size_t worker, TimePoint now) {
  workers_[worker].running = true;
  ++workers_[worker].starts;
  workers_[worker].since = now;
  return {};
}

UpActions Supervision::OnWorkerEnded(std::size_t index, const ChildEnd& end, TimePoint now) {
  Worker& worker = workers_[index];
  const bool was_sound = worker.running && now - worker.since >= kSoundLife;
  worker.running = false;
  if (state_ == UpState::kEnded) return {};
  if (state_ == UpState::kDraining) {
    const bool all =
        std::none_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.running; });
    return all ? End(kExitOk, "drained") : UpActions{};
  }
  if (end.exit_status == kExitUsage) {
    return End(kExitUsage, NameOf(index) + " refused what it was told (see above)");
  }
  // What makes a first start fail makes the next one fail. A signal is somebody's doing, and later deaths may
  // be anything.
  const bool first_start = worker.starts <= 1 && worker.deaths == 0;
  if (state_ == UpState::kStarting && first_start && end.exit_status.value_or(kExitOk) != kExitOk) {
    return End(kExitUnavailable,
               NameOf(index) + " " + end.how + " at its first start, as it would again: why is above");
  }
  worker.deaths = was_sound ? 1 : worker.deaths + 1;
  const Millis wait = BackOff(worker.deaths);
  worker.next_start = now + wait;
  UpActions actions;
  actions.say.push_back(NameOf(index) + " " + end.how + "; it is started again in " + Seconds(wait));
  return actions;
}

UpActions Supervision::OnBrokerEnded(const ChildEnd& end) {
  if (state_ == UpState::kEnded) return {};
  if (end.exit_status == kExitUsage) {
    return End(kExitUsage, "the broker refused what it was told (see above)");
  }
  return End(kExitUnavailable, "the broker " + end.how + "; everything ends");
}

UpActions Supervision::OnSignal() {
  switch (state_) {
    case UpState::kEnded:
      return {};
    case UpState::kDraining:
      return End(kExitInterrupted, "ending at once: unfinished jobs are lost");
    case UpState::kStarting:
    case UpState::kServing:
      break;
  }
  const bool none = std::none_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.running; });
  if (none) return End(kExitOk, "");
  state_ = UpState::kDraining;
  UpActions actions;
  actions.drain = true;
  actions.say.emplace_back("draining: running jobs finish, no new ones start; once more to end at once");
  return actions;
}

UpActions Supervision::OnTick(TimePoint now) {
  UpActions actions;
  if (state_ == UpState::kDraining || state_ == UpState::kEnded) return actions;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (!workers_[i].running && now >= workers_[i].next_start) actions.start.push_back(i);
  }
  return actions;
}

}  // namespace skerry::cli
