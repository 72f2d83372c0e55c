// Log lines that hostile values cannot forge, and that no peer can make a flood of.
#include "common/logging.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "common/log_limiter.h"

namespace skerry {
namespace {

using nlohmann::json;

const std::vector<std::string>& HostileIds() {
  static const std::vector<std::string> ids = {
      "a\nlevel=error forged",        "a tenant=other",
      "a\" tenant=\"other",           "a\\\" x=\"",
      "\x1b[2J\x1b]0;title\x07",      std::string("nul\0inside", 10),
      "\xff\xfe not utf-8 \xc3",      "c1 \xc2\x9b control",
      "right to left \xe2\x80\xae",   "line \xe2\x80\xa8 separator",
      "\r\n{\"message\":\"forged\"}", "=",
      std::string(100'000, '\n'),     std::string(100'000, 'x'),
  };
  return ids;
}

TEST(LogLineText, WritesPlainValuesPlainlyAndQuotesTheOthers) {
  EXPECT_EQ(LogLineText("job ended", {{"job", "a1"},
                                      {"tenant", "t/x-1.y:z@q+%"},
                                      {"reason", "it said \"no\""},
                                      {"attempt", 2},
                                      {"wallMs", 1.5},
                                      {"lease", ~std::uint64_t{0}},
                                      {"left", -3}}),
            "job ended job=a1 tenant=t/x-1.y:z@q+% reason=\"it said \\\"no\\\"\" attempt=2 wallMs=1.5 "
            "lease=18446744073709551615 left=-3");
}

TEST(LogLineText, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(LogLineText("m", {{"user", ""}, {"job", "a"}}), "m job=a");
}

TEST(LogLineText, NoValueForgesALineOrAFieldOrMovesACursor) {
  for (const std::string& id : HostileIds()) {
    const std::string line = LogLineText("job ended", {{"job", id}, {"tenant", "t"}});
    for (const char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << line;
    ASSERT_TRUE(line.starts_with("job ended job=")) << line;
    ASSERT_TRUE(line.ends_with(" tenant=t")) << line;
    EXPECT_LT(line.size(), 6 * kMaxLogValue + 100);
    const std::string value = line.substr(14, line.size() - 14 - 9);
    if (value[0] != '"') {
      EXPECT_EQ(value.find_first_of(" =\""), std::string::npos) << line;
      continue;
    }
    // One whole JSON string, and nothing behind it.
    EXPECT_TRUE(json::accept(value)) << line;
  }
}

TEST(LogLineJson, NoValueForgesALineOrAField) {
  for (const std::string& id : HostileIds()) {
    const std::string line = "{" + LogLineJson("job ended", {{"job", id}, {"attempt", 1}}) + "}";
    for (const char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << line;
    const json parsed = json::parse(line);
    EXPECT_EQ(parsed.size(), 3u) << line;
    EXPECT_EQ(parsed["message"], "job ended");
    EXPECT_EQ(parsed["attempt"], 1);
    EXPECT_TRUE(parsed["job"].is_string());
  }
  EXPECT_EQ(LogLineJson("m", {{"x", 0.0 / 0.0}}), "\"message\":\"m\",\"x\":null");
}

TEST(LogLineJson, KeepsIdsThatAreText) {
  const std::string id = "größe \"x\"\n\xf0\x9f\x90\xb3";
  EXPECT_EQ(json::parse("{" + LogLineJson("m", {{"job", id}}) + "}")["job"], id);
}

TEST(LogLimiter, PassesABurstThenSoManyASecondAndCountsTheRest) {
  LogLimiter limiter;
  const char* kind = "kind";
  TimePoint now;
  for (std::uint32_t i = 0; i < LogLimiter::kBurst; ++i) EXPECT_EQ(limiter.Admit(kind, now), 0u);
  for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(limiter.Admit(kind, now));
  EXPECT_EQ(limiter.Admit("another kind", now), 0u);
  now += Millis(1000 / LogLimiter::kPerSecond);
  EXPECT_EQ(limiter.Admit(kind, now), 1'000u);
  EXPECT_FALSE(limiter.Admit(kind, now));
  std::uint64_t passed = 0;
  for (int ms = 0; ms < 10'000; ++ms) passed += limiter.Admit(kind, now += Millis(1)) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(passed), 10.0 * LogLimiter::kPerSecond, 1);
}

TEST(LogLimiter, AClockThatStandsStillOrGoesBackGivesNothing) {
  LogLimiter limiter;
  TimePoint now = TimePoint() + Millis(5'000);
  for (std::uint32_t i = 0; i < LogLimiter::kBurst; ++i) (void)limiter.Admit("kind", now);
  EXPECT_FALSE(limiter.Admit("kind", now - Millis(4'000)));
  EXPECT_FALSE(limiter.Admit("kind", now));
}

TEST(Logging, RefusesALevelOrFormatThatIsNone) {
  EXPECT_FALSE(InitLogging("test", "loud"));
  EXPECT_FALSE(InitLogging("test", "info", "xml"));
  EXPECT_TRUE(InitLogging("test", "off", "json"));
}

TEST(Logging, NamesEachLevelByTheWordThatLogLevelTakes) {
  for (const std::string format : {"text", "json"}) {
    ::testing::internal::CaptureStderr();
    ASSERT_TRUE(InitLogging("p", "warn", format));
    log::Info("below the level");
    log::Warn("a warning");
    log::Error("a fault");
    const std::string lines = ::testing::internal::GetCapturedStderr();
    const bool json_lines = format == "json";
    EXPECT_EQ(lines.find("below"), std::string::npos) << lines;
    EXPECT_NE(lines.find(json_lines ? R"("level":"warn",)" : " warn p a warning"), std::string::npos)
        << lines;
    EXPECT_NE(lines.find(json_lines ? R"("level":"error",)" : " error p a fault"), std::string::npos)
        << lines;
  }
}

}  // namespace
}  // namespace skerry
