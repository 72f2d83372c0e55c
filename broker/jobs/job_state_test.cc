#include "broker/jobs/job_state.h"

#include <gtest/gtest.h>

namespace skerry::broker {
namespace {

using S = JobState;
using E = JobEvent;

struct Row {
  S state;
  E event;
  std::optional<S> next;
};

constexpr auto kNo = std::nullopt;

// Every (state, event) pair, written out.
const Row kRows[] = {
    {S::kQueued, E::kDispatch, S::kRunning},
    {S::kQueued, E::kFinal, kNo},
    {S::kQueued, E::kLost, kNo},
    {S::kQueued, E::kRequeue, kNo},
    {S::kQueued, E::kCancel, S::kEnded},
    {S::kQueued, E::kExpire, S::kEnded},
    {S::kQueued, E::kRefuse, S::kEnded},

    {S::kRunning, E::kDispatch, kNo},
    {S::kRunning, E::kFinal, S::kEnded},
    {S::kRunning, E::kLost, S::kEnded},
    {S::kRunning, E::kRequeue, S::kQueued},
    {S::kRunning, E::kCancel, S::kCancelling},
    {S::kRunning, E::kExpire, kNo},
    {S::kRunning, E::kRefuse, kNo},

    {S::kCancelling, E::kDispatch, kNo},
    {S::kCancelling, E::kFinal, S::kEnded},
    {S::kCancelling, E::kLost, S::kEnded},
    {S::kCancelling, E::kRequeue, kNo},
    {S::kCancelling, E::kCancel, kNo},
    {S::kCancelling, E::kExpire, kNo},
    {S::kCancelling, E::kRefuse, kNo},

    {S::kEnded, E::kDispatch, kNo},
    {S::kEnded, E::kFinal, kNo},
    {S::kEnded, E::kLost, kNo},
    {S::kEnded, E::kRequeue, kNo},
    {S::kEnded, E::kCancel, kNo},
    {S::kEnded, E::kExpire, kNo},
    {S::kEnded, E::kRefuse, kNo},
};

TEST(JobState, EveryPairOfStateAndEventHasItsNextStateOrNone) {
  ASSERT_EQ(std::size(kRows), static_cast<std::size_t>(kJobStateCount * kJobEventCount));
  for (const Row& row : kRows) {
    EXPECT_EQ(Next(row.state, row.event), row.next) << NameOf(row.state) << " + " << NameOf(row.event);
  }
}

TEST(JobState, NothingLeavesTheEnd) {
  for (int event = 0; event < kJobEventCount; ++event) {
    EXPECT_EQ(Next(S::kEnded, static_cast<E>(event)), std::nullopt);
  }
}

}  // namespace
}  // namespace skerry::broker
