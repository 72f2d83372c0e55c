#include "worker/agent/jobs/run_state.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace skerry::agent {
namespace {

using S = RunState;
using E = RunEvent;
using A = RunAction;

TEST(RunState, FollowsTheDrawingForEveryStateAndEvent) {
  const std::map<std::pair<S, E>, std::pair<S, A>> moves = {
      {{S::kSending, E::kJobSent}, {S::kRunning, A::kStartClocks}},
      {{S::kSending, E::kKill}, {S::kKilled, A::kKillProcess}},
      {{S::kSending, E::kExited}, {S::kReaped, A::kReport}},
      {{S::kRunning, E::kFinalRead}, {S::kFinished, A::kAwaitExit}},
      {{S::kRunning, E::kKill}, {S::kKilled, A::kKillProcess}},
      {{S::kRunning, E::kExited}, {S::kReaped, A::kReport}},
      {{S::kFinished, E::kGraceOver}, {S::kFinished, A::kKillProcess}},
      {{S::kFinished, E::kLetGo}, {S::kReleased, A::kReport}},
      {{S::kFinished, E::kExited}, {S::kReaped, A::kReport}},
      {{S::kKilled, E::kExited}, {S::kReaped, A::kReport}},
  };
  for (int state = 0; state < kRunStateCount; ++state) {
    for (int event = 0; event < kRunEventCount; ++event) {
      const auto s = static_cast<S>(state);
      const auto move = moves.find({s, static_cast<E>(event)});
      const auto expected = move == moves.end() ? std::pair(s, A::kNothing) : move->second;
      const RunTransition actual = OnEvent(s, static_cast<E>(event));
      EXPECT_EQ(std::pair(actual.next, actual.action), expected) << "state " << state << ", event " << event;
    }
  }
}

}  // namespace
}  // namespace skerry::agent
