#include "worker/agent/jobs/event_gate.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

wire::Event Console() {
  return {};
}
wire::Event StatusEvent() {
  wire::Event event;
  event.type = EventType::kStatus;
  return event;
}

Limits Small() {
  Limits limits;
  limits.Set(LimitId::kMaxStatusEvents, 2);
  limits.Set(LimitId::kMaxConsoleEvents, 3);
  limits.Set(LimitId::kMaxEventBytes, 64);
  limits.Set(LimitId::kMaxEventsTotalBytes, 100);
  limits.Set(LimitId::kMaxDataRequests, 2);
  limits.Set(LimitId::kMaxDataBytes, 10);
  limits.Set(LimitId::kMaxParamsBytes, 8);
  return limits;
}

Usage Report(const EventGate& gate) {
  Usage usage;
  gate.Report(usage);
  return usage;
}

TEST(EventGate, CapsStatusAndConsoleEventsSeparately) {
  EventGate gate(Small());
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(*gate.OnEvent(StatusEvent(), "1"), i < 2 ? Pass::kForward : Pass::kDrop);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*gate.OnEvent(Console(), "x"), i < 3 ? Pass::kForward : Pass::kDrop);
  EXPECT_EQ(Report(gate).status_events, 2u);
  EXPECT_EQ(Report(gate).console_events, 3u);
  EXPECT_EQ(Report(gate).dropped_events, 5u);
}

TEST(EventGate, DropsEventsPastTheirSizeAndPastTheTotalAtTheEdge) {
  EventGate gate(Small());
  EXPECT_EQ(*gate.OnEvent(Console(), std::string(65, 'a')), Pass::kDrop);
  EXPECT_EQ(*gate.OnEvent(Console(), std::string(64, 'a')), Pass::kForward);
  EXPECT_EQ(*gate.OnEvent(Console(), std::string(37, 'a')), Pass::kDrop);
  EXPECT_EQ(*gate.OnEvent(Console(), std::string(36, 'a')), Pass::kForward);
  EXPECT_EQ(Report(gate).dropped_events, 2u);
}

TEST(EventGate, CallsAMalformedEventABrokenProtocol) {
  EventGate gate(Small());
  EXPECT_FALSE(gate.OnEvent(StatusEvent(), "{"));
  EXPECT_FALSE(gate.OnEvent(StatusEvent(), ""));
  EXPECT_FALSE(gate.OnEvent(Console(), "\xff"));
  EXPECT_TRUE(gate.OnEvent(Console(), ""));
}

TEST(EventGate, AddsWhatTheIsolateSaysItDroppedToWhatWasDroppedHere) {
  EventGate gate(Small());
  gate.OnDropped(7);
  gate.OnDropped(5);
  gate.CountLost();
  EXPECT_EQ(*gate.OnEvent(Console(), std::string(65, 'a')), Pass::kDrop);
  EXPECT_EQ(Report(gate).dropped_events, 9u);
}

TEST(EventGate, KeepsAnAbsurdClaimOfDropsWithinReason) {
  EventGate gate(Small());
  gate.OnDropped(~0ull);
  gate.CountLost();
  EXPECT_EQ(Report(gate).dropped_events, (1ull << 52) + 1);
}

TEST(EventGate, RemembersEachLimitThatCurtailedTheJobWhetherSeenHereOrTold) {
  EventGate gate(Small());
  EXPECT_TRUE(Report(gate).tripped.empty());
  wire::Event cut = Console();
  cut.truncated = true;
  EXPECT_EQ(*gate.OnEvent(cut, "x"), Pass::kForward);
  EXPECT_TRUE(gate.OnTripped("maxParamsBytes"));
  EXPECT_TRUE(gate.OnTripped("maxParamsBytes"));
  EXPECT_TRUE(gate.OnCall(1, "m", "1"));
  EXPECT_EQ(*gate.OnAnswer(1, wire::AnswerKind::kValue, 11), wire::AnswerKind::kRefused);
  LimitSet expected;
  for (LimitId id : {LimitId::kMaxEventBytes, LimitId::kMaxParamsBytes, LimitId::kMaxDataBytes})
    expected.Add(id);
  EXPECT_EQ(Report(gate).tripped, expected);
}

TEST(EventGate, CallsAClaimedTripOfALimitThatTheWorkerJudgesABrokenProtocol) {
  EventGate gate(Small());
  for (const char* limit : {"timeoutMs", "memoryMb", "maxResultBytes", "maxDataBytes", "no limit", ""})
    EXPECT_FALSE(gate.OnTripped(limit)) << limit;
  EXPECT_TRUE(Report(gate).tripped.empty());
}

TEST(EventGate, CountsTheLimitThatAnEventPassedHere) {
  const auto tripped = [](auto&& feed) {
    EventGate gate(Small());
    feed(gate);
    return Report(gate).tripped;
  };
  const auto only = [](LimitId id) {
    LimitSet set;
    set.Add(id);
    return set;
  };
  EXPECT_EQ(tripped([](EventGate& gate) {
              for (int i = 0; i < 4; ++i) (void)gate.OnEvent(Console(), "x");
            }),
            only(LimitId::kMaxConsoleEvents));
  EXPECT_EQ(tripped([](EventGate& gate) {
              for (int i = 0; i < 3; ++i) (void)gate.OnEvent(StatusEvent(), "1");
            }),
            only(LimitId::kMaxStatusEvents));
  EXPECT_EQ(tripped([](EventGate& gate) {
              for (int i = 0; i < 2; ++i) (void)gate.OnEvent(Console(), std::string(60, 'x'));
            }),
            only(LimitId::kMaxEventsTotalBytes));
}

TEST(EventGate, TakesCallsInSequenceUpToTheLimit) {
  EventGate gate(Small());
  EXPECT_FALSE(gate.made_host_call());
  EXPECT_FALSE(gate.OnCall(2, "m", "1"));
  EXPECT_FALSE(gate.OnCall(0, "m", "1"));
  EXPECT_TRUE(gate.OnCall(1, "m", "1"));
  EXPECT_FALSE(gate.OnCall(1, "m", "1"));
  EXPECT_TRUE(gate.OnCall(2, "m", "1"));
  EXPECT_FALSE(gate.OnCall(3, "m", "1")) << "past maxDataRequests";
  EXPECT_TRUE(gate.made_host_call());
  EXPECT_EQ(Report(gate).data_requests, 2u);
}

TEST(EventGate, HoldsMethodAndParamsTogetherToTheirSize) {
  EXPECT_TRUE(EventGate(Small()).OnCall(1, "mmmm", "1234"));
  EXPECT_FALSE(EventGate(Small()).OnCall(1, "mmmm", "12345"));
  EXPECT_FALSE(EventGate(Small()).OnCall(1, "\xff", "1"));
  EXPECT_FALSE(EventGate(Small()).OnCall(1, "m", "{"));
}

TEST(EventGate, RefusesTheAnswerThatWouldPassMaxDataBytesAndDeliversASmallerOne) {
  EventGate gate(Small());
  ASSERT_TRUE(gate.OnCall(1, "m", "1"));
  ASSERT_TRUE(gate.OnCall(2, "m", "1"));
  EXPECT_EQ(gate.OnAnswer(2, wire::AnswerKind::kValue, 11), wire::AnswerKind::kRefused);
  EXPECT_EQ(gate.OnAnswer(1, wire::AnswerKind::kError, 10), wire::AnswerKind::kError);
  EXPECT_EQ(Report(gate).data_bytes, 10u);
}

TEST(EventGate, DropsAnswersToCallsThatAreNotOpen) {
  EventGate gate(Small());
  EXPECT_FALSE(gate.OnAnswer(1, wire::AnswerKind::kValue, 1));
  ASSERT_TRUE(gate.OnCall(1, "m", "1"));
  EXPECT_TRUE(gate.OnAnswer(1, wire::AnswerKind::kValue, 1));
  EXPECT_FALSE(gate.OnAnswer(1, wire::AnswerKind::kValue, 1));
}

TEST(CheckAnswer, TurnsWhatIsNoJsonIntoAnErrorThatNamesTheHost) {
  for (const char* bad : {"{bad", "", "\"\xff\""}) {
    wire::AnswerKind kind = wire::AnswerKind::kValue;
    std::string payload = bad;
    CheckAnswer(kind, payload);
    EXPECT_EQ(kind, wire::AnswerKind::kError) << bad;
    EXPECT_NE(payload.find("host"), std::string::npos);
  }
  wire::AnswerKind kind = wire::AnswerKind::kValue;
  std::string payload = "{\"a\":[1]}";
  CheckAnswer(kind, payload);
  EXPECT_EQ(kind, wire::AnswerKind::kValue);
  EXPECT_EQ(payload, "{\"a\":[1]}");
}

TEST(MaxFrameBytes, FitsTheLargestThingThatARunMaySend) {
  Limits limits = Small();
  EXPECT_GE(MaxFrameBytes(limits), limits.Get(LimitId::kMaxResultBytes));
  limits.Set(LimitId::kMaxParamsBytes, 64u << 20);
  EXPECT_GE(MaxFrameBytes(limits), 64u << 20);
  limits.Set(LimitId::kMaxResultBytes, 1);
  limits.Set(LimitId::kMaxParamsBytes, 0);
  EXPECT_GE(MaxFrameBytes(limits), 3 * kMaxErrorBytes) << "an error's texts";
}

TEST(EventGate, HoldsMessagePackToWhatItsJsonTextIsAtLeast) {
  Limits limits;
  limits.Set(LimitId::kMaxEventBytes, 64);
  limits.Set(LimitId::kMaxEventsTotalBytes, 100);
  limits.Set(LimitId::kMaxParamsBytes, 21);
  EventGate gate(limits, Encoding::kMsgpack);
  const auto text = [](std::size_t bytes) {
    return "\xd9" + std::string(1, static_cast<char>(bytes - 2)) + std::string(bytes - 2, 'x');
  };
  EXPECT_EQ(*gate.OnEvent(StatusEvent(), text(193)), Pass::kDrop) << "at least 65 bytes of JSON";
  EXPECT_EQ(*gate.OnEvent(StatusEvent(), text(192)), Pass::kForward);
  EXPECT_EQ(*gate.OnEvent(StatusEvent(), text(109)), Pass::kDrop) << "64 and 37 pass the total";
  EXPECT_EQ(*gate.OnEvent(StatusEvent(), text(108)), Pass::kForward);
  EXPECT_FALSE(gate.OnCall(1, "m", text(61))) << "1 and at least 21";
  EXPECT_TRUE(gate.OnCall(1, "m", text(60)));
}

TEST(EventGate, CallsStatusesAndParamsThatAreNotMessagePackABrokenProtocol) {
  for (const char* wrong : {"\xc1", "", "\xc0\xc0", "\x91",
                            "\xc4\x01"
                            "a",
                            "\xa1\xff"}) {
    EventGate gate(Limits(), Encoding::kMsgpack);
    EXPECT_FALSE(gate.OnEvent(StatusEvent(), wrong));
    EXPECT_FALSE(gate.OnCall(1, "m", wrong));
    EXPECT_TRUE(gate.OnEvent(Console(), "text"));
    EXPECT_TRUE(gate.OnCall(1, "m", "\x91\x01"));
  }
}

TEST(EventGate, LeavesAnswersInMessagePackToTheIsolate) {
  wire::AnswerKind kind = wire::AnswerKind::kValue;
  std::string payload = "\xc1";
  CheckAnswer(kind, payload, Encoding::kMsgpack);
  EXPECT_EQ(kind, wire::AnswerKind::kValue);
  CheckAnswer(kind, payload);
  EXPECT_EQ(kind, wire::AnswerKind::kError);
  kind = wire::AnswerKind::kError;
  payload = "\xff";
  CheckAnswer(kind, payload, Encoding::kMsgpack);
  EXPECT_NE(payload, "\xff") << "an error's text is text";
}

TEST(EventGate, FramesOfMessagePackAreAsLargeAsTheirTextMayMakeThemAndNoLargerThanTheLinkTakes) {
  Limits limits;
  limits.Set(LimitId::kMaxResultBytes, 10u << 20);
  const std::size_t slack = MaxFrameBytes(limits) - (10u << 20);
  EXPECT_EQ(MaxFrameBytes(limits, Encoding::kMsgpack), (30u << 20) + slack);
  limits.Set(LimitId::kMaxResultBytes, 256u << 20);
  EXPECT_EQ(MaxFrameBytes(limits, Encoding::kMsgpack), (256u << 20) + slack);
}

}  // namespace
}  // namespace skerry::agent
