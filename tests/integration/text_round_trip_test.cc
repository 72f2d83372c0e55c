// Text, numbers and structure come through client, broker, worker and isolate unchanged, both ways.
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

using TextRoundTrip = PoolTest;

TEST_F(TextRoundTrip, EveryKindOfCharacterComesBackAsItWent) {
  const std::vector<std::string> texts = {"",
                                          "plain",
                                          "\u00e9\u00df",
                                          "\u4e2d\u6587",
                                          "\U0001f600\U00010ffff",
                                          "line\nbreak\r\ttab",
                                          "quote\" back\\slash",
                                          std::string("nul\0byte", 8),
                                          "\u2028\u2029",
                                          "\ufeffbom",
                                          "\x7f\x01\x1f",
                                          "\u202eoverride",
                                          "e\u0301"};
  const auto result = RunOne(Job("t", "return [input,input.map(s=>s.length)]").Set("input", texts));
  ASSERT_TRUE(IsOk(result));
  EXPECT_EQ(result.value().at(0), Json(texts));
  EXPECT_EQ(result.value().at(1).at(4), 5);  // two astral characters of two units, and an f
}

TEST_F(TextRoundTrip, TextInTheCodeIsTheSameText) {
  const std::string text = "\u00e9 \u4e2d \U0001f600 \u2028";
  EXPECT_TRUE(IsOk(RunOne(Job("c", "return '" + text + "'")), text));
}

TEST_F(TextRoundTrip, LoneSurrogatesComeBackAsEscapesAndStayApart) {
  const auto result = RunOne(Job("s", "return ['\\ud800','\\udfff','a\\udc00b',{'\\ud800':1,'\\ud801':2}]"));
  ASSERT_TRUE(IsOk(result));
  EXPECT_NE(result.line().find(R"("value":["\ud800","\udfff","a\udc00b",{"\ud800":1,"\ud801":2}])"),
            std::string::npos)
      << Shown(result);
}

TEST_F(TextRoundTrip, ALoneSurrogateInTheInputReachesTheProgram) {
  RunOptions options;
  options.broker = pool().client_url();
  const auto report =
      RunLines(R"({"id":"s","code":"return [input,input.length,input.charCodeAt(0)]","input":"\ud800"})"
               "\n",
               options);
  const auto& result = report.At("s");
  ASSERT_TRUE(IsOk(result));
  EXPECT_NE(result.line().find(R"("value":["\ud800",1,55296])"), std::string::npos) << Shown(result);
}

TEST_F(TextRoundTrip, CodeThatIsNoUnicodeTextIsRefusedAndNotRepaired) {
  RunOptions options;
  options.broker = pool().client_url();
  const auto report = RunLines(R"({"id":"s","code":"return '\ud800'.length"})"
                               "\n",
                               options);
  EXPECT_TRUE(IsError(report.At("s"), "VALIDATION"));
  EXPECT_EQ(report.exit_code, 1);
}

TEST_F(TextRoundTrip, NumbersKeepTheirJavaScriptValue) {
  const std::string numbers = "[0,-0.5,1e21,5e-324,1.7976931348623157e308,9007199254740991,0.1,-1]";
  const auto result = RunOne(Job("n", "return input").Set("input", *ParseJson(numbers)));
  EXPECT_TRUE(IsOk(result, *ParseJson(numbers)));
}

TEST_F(TextRoundTrip, NumbersWithoutJsonBecomeNullAsStringifyHasIt) {
  EXPECT_TRUE(IsOk(RunOne(Job("n", "return [NaN,Infinity,-0,undefined,()=>1,Symbol('s')]")),
                   Json{nullptr, nullptr, 0, nullptr, nullptr, nullptr}));
}

TEST_F(TextRoundTrip, WhatHasNoJsonAtTheTopLevelIsNull) {
  for (const char* value : {"", "undefined", "()=>1", "Symbol('s')", "null", "NaN"}) {
    EXPECT_TRUE(IsOk(RunOne(Job("v", std::string("return ") + value)), nullptr)) << value;
  }
}

TEST_F(TextRoundTrip, AMissingInputIsUndefinedAndNullIsNull) {
  const auto report =
      Run({Job("missing", "return typeof input"), Job("null", "return input").Set("input", nullptr)});
  EXPECT_TRUE(IsOk(report.At("missing"), "undefined"));
  EXPECT_TRUE(IsOk(report.At("null"), nullptr));
}

TEST_F(TextRoundTrip, AProtoKeyOfTheInputIsAPropertyAndNoPrototype) {
  RunOptions options;
  options.broker = pool().client_url();
  const auto report = RunLines(
      R"({"id":"p","code":"return [Object.keys(input),input.polluted,({}).polluted]","input":{"__proto__":{"polluted":1}}})"
      "\n",
      options);
  EXPECT_TRUE(IsOk(report.At("p"), Json{std::vector<std::string>{"__proto__"}, nullptr, nullptr}));
}

TEST_F(TextRoundTrip, DeeplyNestedInputAndResultComeThrough) {
  Json deep = 1;
  for (int i = 0; i < 500; ++i) deep = Json::array({deep});
  EXPECT_TRUE(IsOk(RunOne(Job("d", "return input").Set("input", deep)), deep));
}

TEST_F(TextRoundTrip, AMegabyteGoesInAndComesOut) {
  std::string text;
  while (text.size() < (1 << 20)) text += "\u00e9\U0001f600x";
  EXPECT_TRUE(IsOk(RunOne(Job("m", "return input").Set("input", text)), text));
}

TEST_F(TextRoundTrip, AnInheritedToJsonCounts) {
  EXPECT_TRUE(IsOk(RunOne(Job("i", "class A{toJSON(){return 'mine'}}class B extends A{}return {b:new B}")),
                   Json{{"b", "mine"}}));
}

TEST_F(TextRoundTrip, ConsoleTextNeverHoldsALoneSurrogate) {
  const auto result = RunOne(Job("c", "console.log('\\ud800','\\u{1f600}');return 1"));
  ASSERT_EQ(result.ConsoleTexts().size(), 1u);
  EXPECT_EQ(result.line().find(R"(\ud800)"), std::string::npos) << Shown(result);
  EXPECT_NE(result.ConsoleTexts()[0].find("\U0001f600"), std::string::npos);
}

}  // namespace
}  // namespace skerry::testing
