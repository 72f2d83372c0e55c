// What `skerry up` does about its processes: which worker is started again and when, when everything ends and
// with which status. A pure core: it is told what happened and answers what to do.
//
//                 ready                first signal                 last worker ended
//   [kStarting] ──────────> [kServing] ────────────> [kDraining] ─────────────────────> [kEnded], 0
//        │                      │                         │
//        │ first signal: as from kServing                 │ second signal: [kEnded], 130
//        └──────────────────────┴─────────────────────────┴ the broker ended, or a program refused
//                                                           what it was told: [kEnded], 69 or 2
//   [kStarting]: a worker's very first start that ended with an error, or a trial job that failed:
//                [kEnded], 69
//
// Threads: one. Errors: none of its own; how a child ended comes in as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/outcome.h"
#include "common/units.h"

namespace skerry::cli {

enum class UpState : std::uint8_t { kStarting, kServing, kDraining, kEnded };

/// How a child process ended.
struct ChildEnd {
  std::string how;                 ///< "was killed by signal 9"
  std::optional<int> exit_status;  ///< none: a signal
};
/// As shells say it of a program that cannot be run at all.
inline constexpr int kCannotBeRun = 127;

/// How the trial job ended.
struct TrialEnd {
  std::optional<Code> failed = std::nullopt;  ///< none: it was ok
  std::string message = {};
};

/// What the shell is to do now, in this order.
struct UpActions {
  std::vector<std::string> say;    ///< lines for stderr
  std::vector<std::size_t> start;  ///< workers
  bool drain = false;              ///< ask every worker to finish its jobs and leave
  std::optional<int> exit;         ///< end what still runs, leave with this status
};

class Supervision {
 public:
  explicit Supervision(std::size_t workers);

  /// Serving begins where it was ok.
  UpActions OnTrialEnded(const TrialEnd& end);
  UpActions OnWorkerStarted(std::size_t worker, TimePoint now);
  /// Also of a start that failed: `how` says why.
  UpActions OnWorkerEnded(std::size_t worker, const ChildEnd& end, TimePoint now);
  UpActions OnBrokerEnded(const ChildEnd& end);
  UpActions OnSignal();
  /// Starts the workers whose back-off is over; all of them at first.
  UpActions OnTick(TimePoint now);

  UpState state() const { return state_; }

 private:
  struct Worker {
    bool running = false;
    TimePoint since;       // it runs
    TimePoint next_start;  // it does not
    std::uint32_t starts = 0;
    std::uint32_t deaths = 0;  // one after the other, each soon after its start
  };

  UpActions End(int status, std::string why);

  UpState state_ = UpState::kStarting;
  std::vector<Worker> workers_;
};

}  // namespace skerry::cli
