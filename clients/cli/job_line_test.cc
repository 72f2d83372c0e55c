#include "clients/cli/job_line.h"

#include <gtest/gtest.h>

#include "clients/cli/json_text.h"

namespace skerry::cli {
namespace {

std::variant<JobRequest, LineFault> Parse(std::string_view line, std::uint64_t number = 12) {
  JobLineParser parser({TenantId("tenant"), UserId("user")});
  return parser.Parse(line, number);
}

JobRequest Job(std::string_view line) {
  auto parsed = Parse(line);
  if (auto* fault = std::get_if<LineFault>(&parsed)) {
    ADD_FAILURE() << line << ": " << fault->error.message;
    return {};
  }
  return std::get<JobRequest>(std::move(parsed));
}

LineFault FaultOf(std::string_view line) {
  auto parsed = Parse(line);
  if (std::holds_alternative<JobRequest>(parsed)) {
    ADD_FAILURE() << line << " was taken";
    return {};
  }
  return std::get<LineFault>(std::move(parsed));
}

TEST(JobLine, EveryFieldOfTheContractIsRead) {
  const JobRequest job = Job(
      R"({"id":"a1","code":"return input.x+1","input":{"x":1},"mode":"module","limits":{"timeoutMs":1000,"memoryMb":64},)"
      R"("tenant":"t","user":"u","priority":-5,"deadlineMs":60000,"retry":"always","admission":"failFast","wasm":true,)"
      R"("seed":7,"clock":"frozen","receipt":true})");
  EXPECT_EQ(job.spec.id.str(), "a1");
  EXPECT_EQ(job.code, "return input.x+1");
  EXPECT_EQ(job.input, R"({"x":1})");
  EXPECT_EQ(job.spec.mode, Mode::kModule);
  EXPECT_EQ(job.spec.limits, (RequestedLimits{{"timeoutMs", 1000}, {"memoryMb", 64}}));
  EXPECT_EQ(job.spec.tenant.str(), "t");
  EXPECT_EQ(job.spec.user.str(), "u");
  EXPECT_EQ(job.spec.priority, -5);
  EXPECT_EQ(job.spec.deadline_ms, 60'000u);
  EXPECT_EQ(job.spec.retry, Retry::kAlways);
  EXPECT_EQ(job.spec.admission, Admission::kFailFast);
  EXPECT_TRUE(job.spec.wasm);
  EXPECT_EQ(job.spec.seed, 7u);
  EXPECT_EQ(job.spec.clock_ms, 1'735'689'600'000u);
  EXPECT_TRUE(job.spec.receipt);
}

TEST(JobLine, OnlyCodeIsNeededAndTheRestHasDefaults) {
  const JobRequest job = Job(R"({"code":""})");
  EXPECT_EQ(job.spec.id.str(), "12");
  EXPECT_EQ(job.spec.tenant.str(), "tenant");
  EXPECT_EQ(job.spec.user.str(), "user");
  EXPECT_EQ(job.spec.mode, Mode::kFunction);
  EXPECT_TRUE(job.input.empty());
  EXPECT_TRUE(job.spec.limits.empty());
}

TEST(JobLine, SeedsAndClocksGoUpToTheirBoundsAndAbsentOnesAreNotZero) {
  EXPECT_EQ(Job(R"({"code":"","seed":0})").spec.seed, 0u);
  EXPECT_EQ(Job(R"({"code":"","seed":9007199254740991})").spec.seed, 9007199254740991u);
  EXPECT_EQ(Job(R"({"code":""})").spec.seed, std::nullopt);
  EXPECT_EQ(Job(R"({"code":"","clock":0})").spec.clock_ms, 0u);
  EXPECT_EQ(Job(R"({"code":"","clock":8640000000000000})").spec.clock_ms, 8640000000000000u);
  EXPECT_EQ(Job(R"({"code":"","clock":"real"})").spec.clock_ms, std::nullopt);
  EXPECT_EQ(Job(R"({"code":""})").spec.clock_ms, std::nullopt);
  EXPECT_FALSE(Job(R"({"code":"","receipt":false})").spec.receipt);
}

TEST(JobLine, InputPassesThroughAsItsOwnText) {
  for (const char* input : {"1.50", "\"\\u00e9\\ud800\"", "null", "[1, 2 ,3]", "{\"b\":1,\"a\":1e2}", "-0",
                            "true", "12345678901234567890123"}) {
    EXPECT_EQ(Job(std::string(R"({"input": )") + input + R"( , "code":"x"})").input, input);
  }
}

TEST(JobLine, EscapesInCodeAreUndoneAndUnicodeIsKept) {
  EXPECT_EQ(Job(R"({"code":"a\n\"\u00e9\ud83d\ude00é"})").code, "a\n\"\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9");
}

TEST(JobLine, WholeNumbersMayBeWrittenAsJsonLikes) {
  EXPECT_EQ(Job(R"({"code":"","limits":{"timeoutMs":1e3}})").spec.limits[0].second, 1000u);
  EXPECT_EQ(Job(R"({"code":"","limits":{"timeoutMs":1000.0}})").spec.limits[0].second, 1000u);
}

TEST(JobLine, AMalformedLineIsNamedByItsNumber) {
  for (const char* line : {"", "not json", "{\"code\":\"x\"", "{\"code\":\"x\"} trailing",
                           "{\"code\":\"\xff\"}", "[1]", "\"code\"", "1", "null", "{\"code\" \"x\"}"}) {
    const LineFault fault = FaultOf(line);
    EXPECT_EQ(fault.id, "12") << line;
    EXPECT_EQ(fault.error.code, Code::kValidation);
    EXPECT_EQ(fault.error.fault, Fault::kClient);
    EXPECT_FALSE(fault.error.started);
    EXPECT_TRUE(fault.error.message.starts_with("line 12: ")) << fault.error.message;
  }
}

struct BadLine {
  const char* line;
  const char* names;  // what the message must hold
  const char* limit;  // error.limit
};

TEST(JobLine, AFaultNamesItsFieldAndItsLimit) {
  const BadLine bad[] = {
      {R"({"id":"a"})", "code is missing", ""},
      {R"({"id":"a","code":1})", "code must be a string", ""},
      {R"({"id":"a","code":null})", "code must be a string", ""},
      {R"({"id":"a","code":"\ud800"})", "code has an escape", ""},
      {R"({"id":"a","code":"","cod":1})", "unknown field cod", ""},
      {R"({"id":"a","code":"","code":""})", "code is given twice", ""},
      {R"({"id":"a","code":"","mode":"fun"})", "mode must be function, script or module", ""},
      {R"({"id":"a","code":"","retry":"maybe"})", "retry must be", ""},
      {R"({"id":"a","code":"","admission":1})", "admission must be a string", ""},
      {R"({"id":"a","code":"","tenant":""})", "tenant must be 1 to 256 bytes", ""},
      {R"({"id":"a","code":"","priority":1.5})", "priority must be a whole number", ""},
      {R"({"id":"a","code":"","priority":101})", "priority must be at most 100", ""},
      {R"({"id":"a","code":"","priority":-101})", "priority must be at least -100", ""},
      {R"({"id":"a","code":"","deadlineMs":0})", "deadlineMs must be at least 1", ""},
      {R"({"id":"a","code":"","wasm":1})", "wasm must be true or false", ""},
      {R"({"id":"a","code":"","seed":9007199254740992})", "seed is out of range", ""},
      {R"({"id":"a","code":"","seed":-1})", "seed must be at least 0", ""},
      {R"({"id":"a","code":"","seed":1.5})", "seed must be a whole number", ""},
      {R"({"id":"a","code":"","seed":"1"})", "seed must be a whole number", ""},
      {R"({"id":"a","code":"","seed":null})", "seed must be a whole number", ""},
      {R"({"id":"a","code":"","clock":"slow"})", "clock must be real, frozen, or", ""},
      {R"({"id":"a","code":"","clock":true})", "clock must be real, frozen, or", ""},
      {R"({"id":"a","code":"","clock":-1})", "clock must be at least 0", ""},
      {R"({"id":"a","code":"","clock":8640000000000001})", "clock must be an integer from 0 to", ""},
      {R"({"id":"a","code":"","receipt":1})", "receipt must be true or false", ""},
      {R"({"id":"a","code":"","limits":[]})", "limits must be an object", ""},
      {R"({"id":"a","code":"","limits":{"maxFun":1}})", "unknown limit limits.maxFun", "maxFun"},
      {R"({"id":"a","code":"","limits":{"timeoutMs":"1"}})", "limits.timeoutMs must be a whole number",
       "timeoutMs"},
      {R"({"id":"a","code":"","limits":{"timeoutMs":1.5}})",
       "limits.timeoutMs must be a whole number, got 1.5", "timeoutMs"},
      {R"({"id":"a","code":"","limits":{"timeoutMs":-1}})", "limits.timeoutMs must be at least 1, got -1",
       "timeoutMs"},
      {R"({"id":"a","code":"","limits":{"timeoutMs":0}})", "limits.timeoutMs must be at least 1, got 0",
       "timeoutMs"},
      {R"({"id":"a","code":"","limits":{"timeoutMs":1e300}})", "limits.timeoutMs is out of range",
       "timeoutMs"},
      {R"({"id":"a","code":"","limits":{"timeoutMs":99999999999999999999}})",
       "limits.timeoutMs is out of range", "timeoutMs"},
      {R"({"id":"a","code":"","limits":{"timeoutMs":1e400}})", "limits.timeoutMs is out of range",
       "timeoutMs"},
      {R"({"id":"a","code":"","limits":{"timeoutMs":null}})", "limits.timeoutMs must be a whole number",
       "timeoutMs"},
      {R"({"id":"a","code":"","limits":{"memoryMb":4}})", "limits.memoryMb must be at least 8", "memoryMb"},
      {R"({"id":"a","code":"","limits":{"memoryMb":999999}})", "limits.memoryMb must be at most", "memoryMb"},
      {R"({"id":"a","code":"","limits":{"timeoutMs":5,"timeoutMs":5}})", "limits.timeoutMs is given twice",
       "timeoutMs"},
  };
  for (const BadLine& row : bad) {
    const LineFault fault = FaultOf(row.line);
    EXPECT_EQ(fault.id, "a") << row.line;
    EXPECT_NE(fault.error.message.find(row.names), std::string::npos)
        << row.line << " -> " << fault.error.message;
    EXPECT_TRUE(fault.error.message.starts_with("line 12: "));
    EXPECT_EQ(fault.error.limit, row.limit) << row.line;
  }
}

TEST(JobLine, TheIdIsFoundEvenBehindTheFault) {
  EXPECT_EQ(FaultOf(R"({"bogus":1,"code":"x","id":"late"})").id, "late");
  EXPECT_EQ(FaultOf(R"({"id":7,"code":"x"})").id, "12");
  EXPECT_EQ(FaultOf(R"({"id":"","code":"x"})").id, "12");
}

TEST(JobLine, AParserIsGoodForManyLines) {
  JobLineParser parser({});
  for (std::uint64_t i = 1; i < 1000; ++i) {
    const std::string line = R"({"code":")" + std::string(i * 7 % 500, 'x') + R"("})";
    auto parsed = parser.Parse(line, i);
    ASSERT_TRUE(std::holds_alternative<JobRequest>(parsed)) << i;
    EXPECT_EQ(std::get<JobRequest>(parsed).code.size(), i * 7 % 500);
    EXPECT_TRUE(std::holds_alternative<LineFault>(parser.Parse(line.substr(1), i)));
  }
}

}  // namespace
}  // namespace skerry::cli
