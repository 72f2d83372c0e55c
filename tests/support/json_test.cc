#include "tests/support/json.h"

#include <gtest/gtest.h>

namespace skerry::testing {
namespace {

TEST(SpellOutLoneSurrogates, LeavesPairsEscapesAndPlainTextAlone) {
  for (const char* text :
       {R"("a")", R"("\ud83d\ude00")", R"("\\ud800")", R"("\n\"\\")", R"({"k":[1,"é"]})"}) {
    EXPECT_EQ(SpellOutLoneSurrogates(text), text);
  }
}

TEST(SpellOutLoneSurrogates, SpellsOutEachHalfThatStandsAlone) {
  EXPECT_EQ(SpellOutLoneSurrogates(R"("\ud800")"), R"("\\ud800")");
  EXPECT_EQ(SpellOutLoneSurrogates(R"("\ude00\ud83d")"), R"("\\ude00\\ud83d")");
  EXPECT_EQ(SpellOutLoneSurrogates(R"("\ud83d\ud83d\ude00")"), R"("\\ud83d\ud83d\ude00")");
}

TEST(ParseJson, KeepsTwoKeysThatAreDifferentLoneSurrogatesApart) {
  const auto value = ParseJson(R"({"\ud800":1,"\udfff":2})");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->size(), 2u);
  EXPECT_FALSE(SameValue(*value, *ParseJson(R"({"\ud801":1,"\udfff":2})")));
}

TEST(ParseJson, RefusesWhatIsNotJson) {
  EXPECT_FALSE(ParseJson("{"));
  EXPECT_FALSE(ParseJson(R"({"a":1} x)"));
}

TEST(SameValue, IgnoresTheOrderOfKeysAndNothingElse) {
  EXPECT_TRUE(
      SameValue(*ParseJson(R"({"a":1,"b":[{"c":2,"d":3}]})"), *ParseJson(R"({"b":[{"d":3,"c":2}],"a":1})")));
  EXPECT_FALSE(SameValue(*ParseJson("[1,2]"), *ParseJson("[2,1]")));
  EXPECT_FALSE(SameValue(*ParseJson(R"({"a":1})"), *ParseJson(R"({"a":1,"b":null})")));
  EXPECT_FALSE(SameValue(*ParseJson("\"1\""), *ParseJson("1")));
}

}  // namespace
}  // namespace skerry::testing
