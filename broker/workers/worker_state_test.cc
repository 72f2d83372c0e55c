#include "broker/workers/worker_state.h"

#include <gtest/gtest.h>

namespace skerry::broker {
namespace {

using S = WorkerState;
using E = WorkerEvent;

struct Row {
  S state;
  E event;
  std::optional<S> next;
};

constexpr auto kNo = std::nullopt;

// Every (state, event) pair, written out.
const Row kRows[] = {
    {S::kServing, E::kHello, S::kServing},
    {S::kServing, E::kDrain, S::kDraining},
    {S::kServing, E::kUnreachable, S::kAway},
    {S::kServing, E::kSilent, S::kGone},
    {S::kServing, E::kBye, S::kGone},
    {S::kServing, E::kLie, S::kCutOff},

    {S::kDraining, E::kHello, S::kServing},
    {S::kDraining, E::kDrain, S::kDraining},
    {S::kDraining, E::kUnreachable, S::kAway},
    {S::kDraining, E::kSilent, S::kGone},
    {S::kDraining, E::kBye, S::kGone},
    {S::kDraining, E::kLie, S::kCutOff},

    {S::kAway, E::kHello, S::kServing},
    {S::kAway, E::kDrain, kNo},
    {S::kAway, E::kUnreachable, kNo},
    {S::kAway, E::kSilent, S::kGone},
    {S::kAway, E::kBye, S::kGone},
    {S::kAway, E::kLie, S::kCutOff},

    {S::kGone, E::kHello, kNo},
    {S::kGone, E::kDrain, kNo},
    {S::kGone, E::kUnreachable, kNo},
    {S::kGone, E::kSilent, kNo},
    {S::kGone, E::kBye, kNo},
    {S::kGone, E::kLie, kNo},

    {S::kCutOff, E::kHello, kNo},
    {S::kCutOff, E::kDrain, kNo},
    {S::kCutOff, E::kUnreachable, kNo},
    {S::kCutOff, E::kSilent, kNo},
    {S::kCutOff, E::kBye, kNo},
    {S::kCutOff, E::kLie, kNo},
};

TEST(WorkerState, EveryPairOfStateAndEventHasItsNextStateOrNone) {
  ASSERT_EQ(std::size(kRows), static_cast<std::size_t>(kWorkerStateCount * kWorkerEventCount));
  for (const Row& row : kRows) {
    EXPECT_EQ(Next(row.state, row.event), row.next) << NameOf(row.state) << " + " << NameOf(row.event);
  }
}

}  // namespace
}  // namespace skerry::broker
