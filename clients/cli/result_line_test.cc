#include "clients/cli/result_line.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace skerry::cli {
namespace {

using nlohmann::json;

JobNotice Console(const std::string& text, Level level = Level::kLog) {
  JobNotice notice;
  notice.level = level;
  notice.payload = text;
  return notice;
}

JobNotice StatusOf(const std::string& value) {
  JobNotice notice;
  notice.type = EventType::kStatus;
  notice.payload = value;
  return notice;
}

TEST(ResultLine, AnOkJobHasExactlyTheShapeOfTheContract) {
  Outcome outcome;
  outcome.value = "2";
  outcome.usage.wall_ms = 1.5;
  std::string events;
  AppendEvent(events, Console("hi"));
  AppendEvent(events, StatusOf("{\"p\":1}"));
  EXPECT_EQ(ResultLine(JobId("a1"), outcome, events),
            "{\"id\":\"a1\",\"outcome\":\"ok\",\"value\":2,\"error\":null,"
            "\"events\":[{\"type\":\"console\",\"level\":\"log\",\"text\":\"hi\"},{\"type\":\"status\","
            "\"value\":{\"p\":1}}],"
            "\"usage\":{\"queueMs\":0,\"wallMs\":1.5,\"cpuMs\":0,\"memoryPeakBytes\":0,\"heapPeakBytes\":0,"
            "\"dataRequests\":0,\"dataBytes\":0,\"statusEvents\":0,\"consoleEvents\":0,\"droppedEvents\":0,"
            "\"resultBytes\":0},\"attempt\":1}\n");
}

TEST(ResultLine, ACasesLineSaysWhichCaseItIsAndIsElseTheSame) {
  Outcome outcome;
  outcome.value = "2";
  const std::string plain = ResultLine(JobId("a\""), outcome, "");
  EXPECT_EQ(CaseLine({JobId("a\""), 99'999}, outcome, ""),
            "{\"id\":\"a\\\"\",\"case\":99999," + plain.substr(plain.find("\"outcome\"")));
}

Outcome FailedWith(Code code) {
  Outcome outcome;
  outcome.error = MakeError(code, "m");
  return outcome;
}

TEST(ResultLine, ASummaryOfCasesThatAllEndedOkIsOk) {
  CasesSummary summary;
  summary.CountOk();
  summary.CountOk();
  summary.wall = Millis(250);
  const std::string line = SummaryLine(JobId("a"), summary);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_TRUE(line.starts_with(
      R"({"id":"a","summary":{"cases":2,"ok":2,"failed":0,"codes":{},"cancelled":0,"wallMs":250},)"
      R"("outcome":"ok","value":null,"error":null,"events":[],"usage":{)"))
      << line;
  EXPECT_EQ(json::parse(line)["usage"]["cpuMs"], 0);
}

TEST(ResultLine, ASummaryOfCasesThatFailedCountsThemAndHasTheCodeOfMost) {
  CasesSummary summary;
  summary.CountOk();
  for (const Code code : {Code::kRuntime, Code::kTimeout, Code::kTimeout, Code::kCancelled})
    summary.Count(FailedWith(code));
  const json line = json::parse(SummaryLine(JobId("a"), summary));
  EXPECT_EQ(line["summary"], json::parse(R"({"cases":5,"ok":1,"failed":3,"codes":{"RUNTIME":1,"TIMEOUT":2},)"
                                         R"("cancelled":1,"wallMs":0})"));
  EXPECT_EQ(line["outcome"], "error");
  EXPECT_EQ(line["error"]["code"], "TIMEOUT");
  EXPECT_EQ(line["error"]["fault"], "limit");
  EXPECT_EQ(line["error"]["message"], "3 of 5 cases failed, 1 cancelled; their own lines say how");
  CasesSummary cancelled;
  cancelled.Count(FailedWith(Code::kCancelled));
  const json none = json::parse(SummaryLine(JobId("a"), cancelled));
  EXPECT_EQ(none["error"]["code"], "CANCELLED");
  EXPECT_EQ(none["error"]["started"], false);
}

TEST(ResultLine, ASummaryBlamesWhomItsCasesBlame) {
  // VALIDATION is the client's before the run, and the program's or the limit's after it.
  CasesSummary summary;
  Outcome too_large = FailedWith(Code::kValidation);
  too_large.error->fault = Fault::kLimit;
  too_large.error->started = true;
  summary.Count(too_large);
  const json run = json::parse(SummaryLine(JobId("a"), summary));
  EXPECT_EQ(run["error"]["fault"], "limit");
  EXPECT_EQ(run["error"]["started"], true);
  CasesSummary refused;
  refused.Count(FailedWith(Code::kValidation));
  refused.Count(FailedWith(Code::kCancelled));
  const json unrun = json::parse(SummaryLine(JobId("a"), refused));
  EXPECT_EQ(unrun["error"]["fault"], "client");
  EXPECT_EQ(unrun["error"]["started"], false);
}

TEST(ResultLine, AReceiptStandsLastAndOneThatIsNotJsonIsLeftOut) {
  Outcome outcome;
  outcome.value = "2";
  outcome.receipt = R"({"seed":7})";
  EXPECT_TRUE(ResultLine(JobId("a"), Checked(outcome), "")
                  .ends_with(R"("attempt":1,"receipt":{"seed":7}})"
                             "\n"));
  outcome.receipt = "}";
  EXPECT_TRUE(ResultLine(JobId("a"), Checked(outcome), "").ends_with("\"attempt\":1}\n"));
  outcome.receipt = '"' + std::string(kMaxReceiptBytes - 1, 'x') + '"';
  EXPECT_TRUE(Checked(outcome).receipt.empty());
  outcome.error = MakeError(Code::kTimeout, "too long", "timeoutMs");
  outcome.receipt = R"({"seed":7})";
  EXPECT_EQ(json::parse(ResultLine(JobId("a"), Checked(outcome), "")).at("receipt").at("seed"), 7);
}

TEST(ResultLine, AnErrorHasItsKeysAndPositionsOnlyWhereTheContractSaysSo) {
  Outcome outcome;
  outcome.error = MakeError(Code::kTimeout, "too long", "timeoutMs");
  outcome.error->started = true;
  const json timeout = json::parse(ResultLine(JobId("a"), outcome, ""));
  EXPECT_EQ(timeout["outcome"], "error");
  EXPECT_TRUE(timeout["value"].is_null());
  EXPECT_EQ(timeout["error"], json({{"code", "TIMEOUT"},
                                    {"limit", "timeoutMs"},
                                    {"fault", "limit"},
                                    {"started", true},
                                    {"retryable", false},
                                    {"message", "too long"},
                                    {"name", "SandboxTimeoutError"}}));
  outcome.error = MakeError(Code::kRuntime, "x is not defined");
  outcome.error->name = "ReferenceError";
  outcome.error->stack = "ReferenceError: x is not defined\n    at <job>:1:1";
  outcome.error->position = {1, 8};
  const json runtime = json::parse(ResultLine(JobId("a"), outcome, ""))["error"];
  EXPECT_TRUE(runtime["limit"].is_null());
  EXPECT_EQ(runtime["line"], 1);
  EXPECT_EQ(runtime["column"], 8);
  EXPECT_EQ(runtime["stack"], outcome.error->stack);
  EXPECT_FALSE(runtime.contains("retryAfterMs"));
}

TEST(ResultLine, RetryAfterIsThereWhenThereIsSomethingToWaitFor) {
  Outcome outcome;
  outcome.error = MakeError(Code::kOverloaded, "full");
  outcome.error->retry_after_ms = 250;
  const json error = json::parse(ResultLine(JobId("a"), outcome, ""))["error"];
  EXPECT_EQ(error["retryAfterMs"], 250);
  EXPECT_EQ(error["retryable"], true);
  EXPECT_FALSE(error.contains("stack"));
}

TEST(ResultLine, ValuesPassThroughRawAndStayOnOneLine) {
  Outcome outcome;
  outcome.value = "{\"a\":1.50,\r\n\"b\":12345678901234567890}";
  const std::string line = ResultLine(JobId("a"), outcome, "");
  EXPECT_NE(line.find("\"value\":{\"a\":1.50,\"b\":12345678901234567890}"), std::string::npos);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(ResultLine, AValueThatIsNotJsonIsABrokenProtocolNotABrokenLine) {
  for (const char* value : {"", "{bad", "1\n2", "\xff", "1,\"x\":2"}) {
    Outcome outcome;
    outcome.value = value;
    const Outcome checked = Checked(outcome);
    ASSERT_TRUE(checked.error) << value;
    EXPECT_EQ(checked.error->code, Code::kCrash);
    EXPECT_TRUE(checked.error->started);
    EXPECT_TRUE(json::accept(ResultLine(JobId("a"), checked, "")));
  }
  Outcome good;
  good.value = "[1]";
  EXPECT_TRUE(Checked(good).ok());
}

TEST(ResultLine, HostileTextsAndStatusesCannotBreakALine) {
  Outcome outcome;
  outcome.error = MakeError(Code::kRuntime, "\"}\n\xff\x01");
  outcome.error->name = "\n";
  std::string events;
  AppendEvent(events, Console("a\n\"b\xff", Level::kAssert));
  AppendEvent(events, StatusOf("{\"broken\":\n"));
  const std::string line = ResultLine(JobId("\"\n"), outcome, events);
  ASSERT_TRUE(json::accept(line)) << line;
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const json parsed = json::parse(line);
  EXPECT_EQ(parsed["id"], "\"\n");
  EXPECT_EQ(parsed["events"][0]["level"], "assert");
  EXPECT_EQ(parsed["events"][1]["value"], "{\"broken\":\n");  // its text, for want of its value
}

TEST(ResultLine, ATruncatedEventSaysSo) {
  JobNotice notice = Console("begin");
  notice.truncated = true;
  std::string events;
  AppendEvent(events, notice);
  EXPECT_EQ(events, R"({"type":"console","level":"log","text":"begin","truncated":true})");
}

}  // namespace
}  // namespace skerry::cli
