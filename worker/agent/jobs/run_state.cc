#include "worker/agent/jobs/run_state.h"

namespace skerry::agent {

RunTransition OnEvent(RunState state, RunEvent event) {
  const RunTransition stay{state, RunAction::kNothing};
  if (state == RunState::kReaped || state == RunState::kReleased) return stay;
  switch (event) {
    case RunEvent::kJobSent:
      return state == RunState::kSending ? RunTransition{RunState::kRunning, RunAction::kStartClocks} : stay;
    case RunEvent::kFinalRead:
      return state == RunState::kRunning ? RunTransition{RunState::kFinished, RunAction::kAwaitExit} : stay;
    case RunEvent::kKill:
      if (state == RunState::kSending || state == RunState::kRunning) {
        return {RunState::kKilled, RunAction::kKillProcess};
      }
      return stay;
    case RunEvent::kGraceOver:
      return state == RunState::kFinished ? RunTransition{RunState::kFinished, RunAction::kKillProcess}
                                          : stay;
    case RunEvent::kLetGo:
      return state == RunState::kFinished ? RunTransition{RunState::kReleased, RunAction::kReport} : stay;
    case RunEvent::kExited:
      return {RunState::kReaped, RunAction::kReport};
  }
  return stay;
}

}  // namespace skerry::agent
