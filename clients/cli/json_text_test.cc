#include "clients/cli/json_text.h"

#include <gtest/gtest.h>

#include "common/text_check.h"

namespace skerry::cli {
namespace {

TEST(JsonText, StringsAreQuotedSoThatTheyAreJsonWhateverTheyHold) {
  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  std::string quoted;
  AppendJsonString(quoted, every);
  EXPECT_TRUE(IsJson(quoted));
  EXPECT_EQ(quoted.find('\n'), std::string::npos);
}

TEST(JsonText, GoodTextStaysAndBadBytesBecomeReplacementCharacters) {
  std::string out;
  AppendJsonString(out, "\xc3\xa9\xf0\x9f\x98\x80\"\\\n\x01");
  EXPECT_EQ(out, "\"\xc3\xa9\xf0\x9f\x98\x80\\\"\\\\\\n\\u0001\"");
  out.clear();
  AppendJsonString(out, "a\xff\xc3\xa9\xc3");
  EXPECT_EQ(out, "\"a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\"");
}

TEST(JsonText, LineBreaksBetweenTokensAreTakenOut) {
  std::string out;
  AppendOneLine(out, "{\"a\":\r\n 1}");
  EXPECT_EQ(out, "{\"a\": 1}");
}

TEST(JsonText, MillisecondsHaveThreeDecimalsAtMost) {
  const auto text = [](double ms) {
    std::string out;
    AppendMillis(out, ms);
    return out;
  };
  EXPECT_EQ(text(0), "0");
  EXPECT_EQ(text(12.3456), "12.346");
  EXPECT_EQ(text(1500), "1500");
  EXPECT_EQ(text(-1), "0");
  EXPECT_TRUE(IsJson(text(1e300)));
}

}  // namespace
}  // namespace skerry::cli
