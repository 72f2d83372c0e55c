#include "worker/engine/event_meter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace skerry::engine {
namespace {

class ListeningPort : public JobPort {
 public:
  void SendEvent(EventType, Level, std::string_view payload, bool truncated) override {
    payloads.emplace_back(payload);
    any_truncated = any_truncated || truncated;
  }
  void SendDropped(std::uint64_t dropped_events) override { dropped.push_back(dropped_events); }
  void SendTripped(LimitId limit) override { tripped.emplace_back(NameOf(limit)); }
  void SendCall(std::uint32_t, std::string_view, std::string_view) override { FAIL(); }
  HostAnswer AwaitAnswer() override { return {}; }

  std::vector<std::string> payloads;
  std::vector<std::uint64_t> dropped;
  std::vector<std::string> tripped;
  bool any_truncated = false;
};

class EventMeterTest : public testing::Test {
 protected:
  Usage Report(const EventMeter& meter) const {
    Usage usage;
    meter.Report(&usage);
    return usage;
  }
  Limits limits_;
  ListeningPort port_;
};

TEST_F(EventMeterTest, PassesExactlyTheCapOfEachKindAndCountsTheRest) {
  limits_.Set(LimitId::kMaxConsoleEvents, 3);
  limits_.Set(LimitId::kMaxStatusEvents, 2);
  EventMeter meter(limits_, port_);
  for (int i = 0; i < 5; ++i) {
    if (meter.AdmitConsole()) meter.SendConsole(Level::kLog, "line", true);
    if (meter.AdmitStatus()) meter.SendStatus("1");
  }
  EXPECT_EQ(port_.payloads.size(), 5u);
  const Usage usage = Report(meter);
  EXPECT_EQ(usage.console_events, 3u);
  EXPECT_EQ(usage.status_events, 2u);
  EXPECT_EQ(usage.dropped_events, 5u);
}

TEST_F(EventMeterTest, AnEventOfExactlyMaxEventBytesIsWhole) {
  limits_.Set(LimitId::kMaxEventBytes, 64);
  EventMeter meter(limits_, port_);
  meter.SendConsole(Level::kLog, std::string(64, 'x'), true);
  EXPECT_FALSE(port_.any_truncated);
  meter.SendConsole(Level::kLog, std::string(65, 'x'), true);
  EXPECT_TRUE(port_.any_truncated);
  EXPECT_EQ(port_.payloads.back(), std::string(64, 'x'));
}

TEST_F(EventMeterTest, ATruncatedStatusIsAJsonStringWithinTheLimit) {
  limits_.Set(LimitId::kMaxEventBytes, 64);
  EventMeter meter(limits_, port_);
  meter.SendStatus("[\"" + std::string(100, 'x') + "\"]");
  EXPECT_TRUE(port_.any_truncated);
  EXPECT_LE(port_.payloads.back().size(), 64u);
  EXPECT_EQ(port_.payloads.back().substr(0, 5), R"("[\"x)");
  EXPECT_EQ(port_.payloads.back().back(), '"');
}

TEST_F(EventMeterTest, TotalBytesPassExactlyAndWhatIsOverIsDropped) {
  limits_.Set(LimitId::kMaxEventsTotalBytes, 10);
  EventMeter meter(limits_, port_);
  meter.SendConsole(Level::kLog, "123456", true);
  meter.SendConsole(Level::kLog, "12345", true);  // would make 11
  meter.SendConsole(Level::kLog, "1234", true);
  EXPECT_EQ(port_.payloads, (std::vector<std::string>{"123456", "1234"}));
  EXPECT_FALSE(meter.AdmitConsole());
  EXPECT_FALSE(meter.AdmitStatus());
  EXPECT_EQ(Report(meter).dropped_events, 3u);
}

TEST_F(EventMeterTest, TellsEachLimitThatDropsAnEventOnce) {
  limits_.Set(LimitId::kMaxConsoleEvents, 1);
  limits_.Set(LimitId::kMaxEventsTotalBytes, 10);
  EventMeter meter(limits_, port_);
  for (int i = 0; i < 3; ++i) {
    if (meter.AdmitConsole()) meter.SendConsole(Level::kLog, "line", true);
  }
  EXPECT_EQ(port_.tripped, std::vector<std::string>{"maxConsoleEvents"});
  for (int i = 0; i < 3; ++i) {
    if (meter.AdmitStatus()) meter.SendStatus("12345");
  }
  EXPECT_EQ(port_.tripped, (std::vector<std::string>{"maxConsoleEvents", "maxEventsTotalBytes"}));
}

TEST_F(EventMeterTest, ReportsTheFirstDropAtOnceAndAFloodRarely) {
  limits_.Set(LimitId::kMaxConsoleEvents, 0);
  EventMeter meter(limits_, port_);
  EXPECT_FALSE(meter.AdmitConsole());
  EXPECT_EQ(port_.dropped, std::vector<std::uint64_t>{1});
  const TimePoint start = SteadyClock::now();
  for (int i = 0; i < 100'000; ++i) meter.AdmitConsole();
  const double elapsed_ms = MillisBetween(start, SteadyClock::now());
  EXPECT_LE(port_.dropped.size(), 2 + static_cast<std::size_t>(elapsed_ms / 10));
  EXPECT_EQ(Report(meter).dropped_events, 100'001u);
}

}  // namespace
}  // namespace skerry::engine
