#include "broker/jobs/job_state.h"

#include <array>

namespace skerry::broker {
namespace {

constexpr std::array<std::string_view, kJobStateCount> kStates = {"queued", "running", "cancelling", "ended"};
constexpr std::array<std::string_view, kJobEventCount> kEvents = {"dispatch", "final",  "lost",  "requeue",
                                                                  "cancel",   "expire", "refuse"};

}  // namespace

std::string_view NameOf(JobState state) {
  return kStates[static_cast<std::size_t>(state)];
}
std::string_view NameOf(JobEvent event) {
  return kEvents[static_cast<std::size_t>(event)];
}

std::optional<JobState> Next(JobState state, JobEvent event) {
  switch (state) {
    case JobState::kQueued:
      if (event == JobEvent::kDispatch) return JobState::kRunning;
      if (event == JobEvent::kCancel || event == JobEvent::kExpire || event == JobEvent::kRefuse) {
        return JobState::kEnded;
      }
      return std::nullopt;
    case JobState::kRunning:
      if (event == JobEvent::kFinal || event == JobEvent::kLost) return JobState::kEnded;
      if (event == JobEvent::kRequeue) return JobState::kQueued;
      if (event == JobEvent::kCancel) return JobState::kCancelling;
      return std::nullopt;
    case JobState::kCancelling:
      if (event == JobEvent::kFinal || event == JobEvent::kLost) return JobState::kEnded;
      return std::nullopt;
    case JobState::kEnded:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace skerry::broker
