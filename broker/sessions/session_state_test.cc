#include "broker/sessions/session_state.h"

#include <gtest/gtest.h>

namespace skerry::broker {
namespace {

using S = SessionState;
using E = SessionEvent;

struct Row {
  S state;
  E event;
  std::optional<S> next;
};

constexpr auto kNo = std::nullopt;

// Every (state, event) pair, written out.
const Row kRows[] = {
    {S::kLinked, E::kHello, S::kLinked}, {S::kLinked, E::kUnreachable, S::kAway},
    {S::kLinked, E::kSilent, S::kAway},  {S::kLinked, E::kBroken, S::kAway},
    {S::kLinked, E::kTtl, kNo},          {S::kLinked, E::kBye, S::kClosed},

    {S::kAway, E::kHello, S::kLinked},   {S::kAway, E::kUnreachable, kNo},
    {S::kAway, E::kSilent, kNo},         {S::kAway, E::kBroken, kNo},
    {S::kAway, E::kTtl, S::kClosed},     {S::kAway, E::kBye, S::kClosed},

    {S::kClosed, E::kHello, kNo},        {S::kClosed, E::kUnreachable, kNo},
    {S::kClosed, E::kSilent, kNo},       {S::kClosed, E::kBroken, kNo},
    {S::kClosed, E::kTtl, kNo},          {S::kClosed, E::kBye, kNo},
};

TEST(SessionState, EveryPairOfStateAndEventHasItsNextStateOrNone) {
  ASSERT_EQ(std::size(kRows), static_cast<std::size_t>(kSessionStateCount * kSessionEventCount));
  for (const Row& row : kRows) {
    EXPECT_EQ(Next(row.state, row.event), row.next) << NameOf(row.state) << " + " << NameOf(row.event);
  }
}

}  // namespace
}  // namespace skerry::broker
