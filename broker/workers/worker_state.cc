#include "broker/workers/worker_state.h"

#include <array>

namespace skerry::broker {
namespace {

constexpr std::array<std::string_view, kWorkerStateCount> kStates = {"serving", "draining", "away", "gone",
                                                                     "cut off"};
constexpr std::array<std::string_view, kWorkerEventCount> kEvents = {"hello",  "drain", "unreachable",
                                                                     "silent", "bye",   "lie"};

}  // namespace

std::string_view NameOf(WorkerState state) {
  return kStates[static_cast<std::size_t>(state)];
}
std::string_view NameOf(WorkerEvent event) {
  return kEvents[static_cast<std::size_t>(event)];
}

std::optional<WorkerState> Next(WorkerState state, WorkerEvent event) {
  if (state == WorkerState::kGone || state == WorkerState::kCutOff) return std::nullopt;
  switch (event) {
    case WorkerEvent::kHello:
      return WorkerState::kServing;
    case WorkerEvent::kDrain:
      if (state == WorkerState::kAway) return std::nullopt;
      return WorkerState::kDraining;
    case WorkerEvent::kUnreachable:
      if (state == WorkerState::kAway) return std::nullopt;
      return WorkerState::kAway;
    case WorkerEvent::kSilent:
    case WorkerEvent::kBye:
      return WorkerState::kGone;
    case WorkerEvent::kLie:
      return WorkerState::kCutOff;
  }
  return std::nullopt;
}

}  // namespace skerry::broker
