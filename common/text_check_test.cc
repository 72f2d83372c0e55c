#include "common/text_check.h"

#include <gtest/gtest.h>

#include <utility>

#include "common/utf8.h"

namespace skerry {
namespace {

bool IsOneLineJson(std::string_view text) {
  return IsJson(text, JsonLayout::kOneLine);
}

TEST(IsOneLineJson, AcceptsWhatStringifyWrites) {
  for (const char* text : {"null", "true", "false", "0", "-0", "10", "1.5", "-1e-7", "1E+21", "\"\"",
                           "\"a\\u0041\\n\\\\\\\"\\/\\b\\f\\r\\t\"", "[]", "{}", "[1,[2,[]],{}]",
                           "{\"a\":1,\"b\":[null],\"\":{\"c\":\"d\"}}", "\"\\ud800\"", "\"\xE2\x80\xA8\"",
                           " [ 1 , 2 ] ", "{ \"a\" : 1 }"}) {
    EXPECT_TRUE(IsOneLineJson(text)) << text;
  }
}

TEST(IsOneLineJson, RefusesWhatIsNoJson) {
  for (const char* text : {"",
                           " ",
                           "nul",
                           "nullx",
                           "tru",
                           "01",
                           "1.",
                           ".5",
                           "-",
                           "1e",
                           "1e+",
                           "+1",
                           "'a'",
                           "\"",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\u12",
                           "[",
                           "]",
                           "[1",
                           "[1,",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "[1}",
                           "{",
                           "{1:2}",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{\"a\":1]",
                           "{\"a\" 1}",
                           "1 1",
                           "[] []",
                           "{,}",
                           "[]]",
                           "{]",
                           "{a:1}",
                           "{\"a\":1 \"b\":2}",
                           "\"\\",
                           "\"\\\"",
                           "[\"a\":1]",
                           "undefined",
                           "NaN",
                           "Infinity",
                           "\"\x01\"",
                           "/**/1",
                           "\xEF\xBB\xBF"
                           "1"}) {
    EXPECT_FALSE(IsOneLineJson(text)) << text;
  }
}

TEST(IsOneLineJson, RefusesLineBreaksAndInvalidUtf8) {
  for (const char* text :
       {"[1,\n2]", "1\n", "\r1", "[\t]", "\"a\nb\"", "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc0\xaf\""}) {
    EXPECT_FALSE(IsOneLineJson(text)) << text;
  }
  EXPECT_FALSE(IsOneLineJson(std::string_view("\"a\0b\"", 5)));
}

TEST(IsJson, AllowsLineBreaksBetweenTokensUnlessToldOtherwise) {
  for (const char* text : {"[1,\n2]", "1\n", "\r1", "[\t]", " {\r\n\t\"a\" :\n1 } "}) {
    EXPECT_TRUE(IsJson(text)) << text;
    EXPECT_FALSE(IsOneLineJson(text)) << text;
  }
  EXPECT_FALSE(IsJson("\"a\nb\""));
  EXPECT_FALSE(IsJson("\v1"));
}

TEST(IsOneLineJson, ReadsAnyDepthWithoutRecursion) {
  const std::size_t depth = 2'000'000;
  EXPECT_TRUE(IsOneLineJson(std::string(depth, '[') + std::string(depth, ']')));
  EXPECT_FALSE(IsOneLineJson(std::string(depth, '[') + std::string(depth - 1, ']')));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_TRUE(IsOneLineJson(objects + "1" + std::string(100'000, '}')));
}

TEST(CutUtf8, NeverSplitsACharacter) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";  // 1, 2, 3 and 4 bytes
  const std::size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (std::size_t max = 0; max < 12; ++max) EXPECT_EQ(CutUtf8(text, max).size(), expected[max]) << max;
}

TEST(JsonFaultIn, SaysWhereAndByWhatATextStopsBeingJson) {
  const std::pair<const char*, const char*> texts[] = {
      {R"({"a":NaN})", "column 6: NaN is not JSON"},
      {R"([1,-Infinity])", "column 5: Infinity is not JSON"},
      {R"({"a":True})", "column 6: True is not JSON"},
      {R"({'a':1})", "column 2: unexpected '"},
      {R"([1,])", "column 4: unexpected ]"},
      {R"({"a":1} x)", "column 9: unexpected x"},
      {R"({"a":1)", "column 7: it ends too early"},
      {"", "column 1: it ends too early"},
      {R"({"é":"\x"})", "column 8: unexpected x"},
      {R"(["\u12g4"])", "column 7: unexpected g"},
      {"[\"a\tb\"]", "column 4: a control character"},
      {"{\n \"a\": 1,\n}", "line 3, column 1: unexpected }"},
      {"[\xc3\xa9]", "column 2: an unexpected character"},
  };
  for (const auto& [text, fault] : texts) EXPECT_EQ(JsonFaultIn(text), fault) << text;
  EXPECT_EQ(JsonFaultIn("[1]"), "");
}

}  // namespace
}  // namespace skerry
