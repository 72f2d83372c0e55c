// The states of one run: a job on an isolate.
//
//                   last byte written           final read
//      kSending ───────────────────▶ kRunning ────────────▶ kFinished ──┐ grace over: kill
//         │ kill                        │ kill                  │   ▲───┘
//         ▼                             ▼                  exit │   └───── let go ──▶ kReleased (it runs
//         other jobs)
//      kKilled ◀────────────────────────┘                       ▼
//         └───────────────────────────── exit ───────────▶   kReaped
//
// An exit leads to kReaped from every state. What does not apply in a state changes nothing: a final that is
// read after the kill (the cause came first), a second final, a kill of what has ended.
//
// Threads: pure functions. Errors: none.
#pragma once

#include <cstdint>

namespace skerry::agent {

enum class RunState : std::uint8_t { kSending, kRunning, kFinished, kKilled, kReaped, kReleased };
inline constexpr int kRunStateCount = 6;

enum class RunEvent : std::uint8_t { kJobSent, kFinalRead, kKill, kGraceOver, kLetGo, kExited };
inline constexpr int kRunEventCount = 6;

/// What the caller must do on a transition.
enum class RunAction : std::uint8_t {
  kNothing,
  kStartClocks,  ///< deadline, CPU and memory checks begin
  kAwaitExit,    ///< stop the clocks; it may exit by itself for a moment
  kKillProcess,  ///< stop the clocks, SIGKILL; keep reading what it had sent
  kReport,       ///< it is gone, or another's: decide and report
};

struct RunTransition {
  RunState next;
  RunAction action;
};

RunTransition OnEvent(RunState state, RunEvent event);

}  // namespace skerry::agent
