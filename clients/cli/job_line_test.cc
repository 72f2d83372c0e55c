#include "clients/cli/job_line.h"

#include <gtest/gtest.h>

#include "clients/cli/json_text.h"

namespace skerry::cli {
namespace {

std::variant<JobLine, LineFault> Parse(std::string_view line, std::uint64_t number = 12) {
  JobLineParser parser({TenantId("tenant"), UserId("user")});
  return parser.Parse(line, number);
}

JobLine Line(std::string_view line) {
  auto parsed = Parse(line);
  if (auto* fault = std::get_if<LineFault>(&parsed)) {
    ADD_FAILURE() << line << ": " << fault->error.message;
    return {};
  }
  return std::get<JobLine>(std::move(parsed));
}

JobRequest Job(std::string_view line) {
  return Line(line).job;
}

LineFault FaultOf(std::string_view line) {
  auto parsed = Parse(line);
  if (std::holds_alternative<JobLine>(parsed)) {
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

TEST(JobLine, ATurnHasAnIdAndPerhapsABudget) {
  const JobRequest job =
      Job(R"({"code":"","turn":{"maxExecutions":5,"id":"c-1/4"},"onDisconnect":"cancel"})");
  EXPECT_EQ(job.spec.turn.str(), "c-1/4");
  EXPECT_EQ(job.spec.turn_executions, 5u);
  EXPECT_EQ(job.spec.on_disconnect, OnDisconnect::kCancel);
  EXPECT_EQ(Job(R"({"code":"","turn":{"id":"t"}})").spec.turn_executions, 0u);
  EXPECT_EQ(Job(R"({"code":"","onDisconnect":"keep"})").spec.on_disconnect, OnDisconnect::kKeep);
  EXPECT_EQ(Job(R"({"code":"","turn":{"id":")" + std::string(256, 't') + R"("}})").spec.turn.str().size(),
            256u);
}

TEST(JobLine, AWrongTurnIsSaid) {
  const std::string shape = "line 12: turn must be {\"id\": text, \"maxExecutions\": whole number}";
  for (const char* turn : {R"("t")", "{}", R"({"maxExecutions":5})", R"({"id":"t","max":5})", "null", "[]",
                           R"({"id":"t","id":"u"})", R"({"id":"t","maxExecutions":1,"maxExecutions":2})"}) {
    EXPECT_EQ(FaultOf(R"({"code":"","turn":)" + std::string(turn) + "}").error.message, shape) << turn;
  }
  EXPECT_EQ(FaultOf(R"({"code":"","turn":{"id":"t","maxExecutions":0}})").error.message,
            "line 12: turn.maxExecutions must be at least 1, got 0");
  EXPECT_EQ(FaultOf(R"({"code":"","turn":{"id":""}})").error.message,
            "line 12: turn.id must be 1 to 256 bytes");
  EXPECT_EQ(FaultOf(R"({"code":"","turn":{"id":")" + std::string(257, 't') + R"("}})").error.message,
            "line 12: turn.id must be 1 to 256 bytes");
  EXPECT_EQ(FaultOf(R"({"code":"","onDisconnect":"die"})").error.message,
            "line 12: onDisconnect must be keep or cancel");
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

TEST(JobLine, CasesPassThroughAsTheirOwnText) {
  const JobLine line = Line(
      R"({"id":"a","cases": [ 1.50, "\u00e9\ud800" ,null,[1, 2 ,3], {"b":1,"a":1e2} , -0, 12345678901234567890123 ],)"
      R"("code":"x","stopOn":"firstFailure"})");
  EXPECT_EQ(line.cases, (std::vector<std::string>{"1.50", "\"\\u00e9\\ud800\"", "null", "[1, 2 ,3]",
                                                  "{\"b\":1,\"a\":1e2}", "-0", "12345678901234567890123"}));
  EXPECT_EQ(line.stop_on, StopOn::kFirstFailure);
  EXPECT_TRUE(line.job.input.empty());
  EXPECT_EQ(Line(R"({"code":"x","cases":[1]})").stop_on, StopOn::kNever);
  EXPECT_EQ(Line(R"({"code":"x","cases":[1],"stopOn":"never"})").stop_on, StopOn::kNever);
}

TEST(JobLine, CasesGoUpToTheirBound) {
  const auto cases = [](std::size_t count) {
    std::string line = R"({"id":"a","code":"x","cases":[0)";
    for (std::size_t i = 1; i < count; ++i) line += ",0";
    return line + "]}";
  };
  EXPECT_EQ(Line(cases(kMaxCases)).cases.size(), kMaxCases);
  EXPECT_EQ(FaultOf(cases(kMaxCases + 1)).error.message, "line 12: cases must be at most 100000");
}

TEST(JobLine, CasesAreAProgramUnlessTheLineSaysOtherwise) {
  EXPECT_FALSE(Job(R"({"code":"x"})").spec.program);
  EXPECT_TRUE(Job(R"({"code":"x","cases":[1]})").spec.program);
  EXPECT_TRUE(Job(R"({"code":"x","program":true})").spec.program);
  EXPECT_FALSE(Job(R"({"code":"x","program":false,"cases":[1]})").spec.program);
}

TEST(JobLine, AProgramIsNamedByItsHashInPlaceOfItsCode) {
  const std::string digits = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";
  const JobLine line = Line(R"({"program":{"hash":")" + digits + R"("},"input":1})");
  ASSERT_EQ(line.program_hash.size(), 32u);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(line.program_hash[i], static_cast<char>(i));
  EXPECT_TRUE(line.job.spec.program);
  EXPECT_NE(
      FaultOf(R"({"code":"","program":{"hash":")" + digits + R"("}})").error.message.find("in place of code"),
      std::string::npos);
  for (const std::string& wrong : {digits.substr(1), digits + "0", "g" + digits.substr(1)}) {
    EXPECT_NE(FaultOf(R"({"program":{"hash":")" + wrong + R"("}})").error.message.find("program must be"),
              std::string::npos)
        << wrong;
  }
  EXPECT_NE(
      FaultOf(R"({"program":{"hash":")" + digits + R"(","x":1}})").error.message.find("program must be"),
      std::string::npos);
}

TEST(JobLine, LibrariesReuseAndEncodingAreRead) {
  const JobRequest job =
      Job(R"({"code":"x","libraries":["lodash","ajv"],"reuse":"context","encoding":"json"})");
  EXPECT_EQ(job.spec.libraries, (std::vector<std::string>{"lodash", "ajv"}));
  EXPECT_EQ(job.spec.reuse, Reuse::kContext);
  EXPECT_EQ(job.spec.encoding, Encoding::kJson);
  EXPECT_TRUE(Job(R"({"code":"x","libraries":[]})").spec.libraries.empty());
  std::string names = "\"0\"";
  for (std::size_t i = 1; i < kMaxLibraries; ++i) names += ",\"" + std::to_string(i) + "\"";
  EXPECT_EQ(Job(R"({"code":"x","libraries":[)" + names + "]}").spec.libraries.size(), kMaxLibraries);
  EXPECT_NE(FaultOf(R"({"code":"x","libraries":[)" + names + R"(,"16"]})").error.message.find("at most 16"),
            std::string::npos);
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
      {R"({"id":"a","code":"","cod":1})", "unknown field cod; did you mean 'code'?", ""},
      {R"({"id":"a","code":"","limts":{}})", "unknown field limts; did you mean 'limits'?", ""},
      {R"({"id":"a","code":"","timeoutMs":1})", "unknown field timeoutMs: it is a limit, limits.timeoutMs",
       ""},
      {R"({"id":"a","code":"","timeoutms":1})", "unknown field timeoutms; did you mean 'limits.timeoutMs'?",
       ""},
      {R"({"id":"a","code":"","limits":{"timeoutms":1}})",
       "unknown limit limits.timeoutms; did you mean 'timeoutMs'?", "timeoutms"},
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
      {R"({"id":"a","code":"","seed":9007199254740992})",
       "seed is out of range: 9007199254740992; numbers from 0 to 9007199254740991", ""},
      {R"({"id":"a","code":"","seed":-1})", "seed must be at least 0", ""},
      {R"({"id":"a","code":"","seed":1.5})", "seed must be a whole number", ""},
      {R"({"id":"a","code":"","seed":"1"})", "seed must be a whole number", ""},
      {R"({"id":"a","code":"","seed":null})", "seed must be a whole number", ""},
      {R"({"id":"a","code":"","clock":"slow"})", "clock must be real, frozen, or", ""},
      {R"({"id":"a","code":"","clock":true})", "clock must be real, frozen, or", ""},
      {R"({"id":"a","code":"","clock":-1})", "clock must be at least 0", ""},
      {R"({"id":"a","code":"","clock":8640000000000001})", "clock must be an integer from 0 to", ""},
      {R"({"id":"a","code":"","receipt":1})", "receipt must be true or false", ""},
      {R"({"id":"a","code":"","libraries":"lodash"})", "libraries must be an array of names", ""},
      {R"({"id":"a","code":"","libraries":["b",1]})", "libraries must be an array of names", ""},
      {R"({"id":"a","code":"","libraries":["b",""]})", "libraries must have names of 1 to 256 bytes", ""},
      {R"({"id":"a","code":"","libraries":["b","b"]})", "libraries names 'b' twice", ""},
      {R"({"id":"a","code":"","libraries":["\n"]})", "without control characters", ""},
      {R"({"id":"a","code":"","program":1})", "program must be true, false, or {\"hash\"", ""},
      {R"({"id":"a","code":"","program":null})", "program must be true, false, or", ""},
      {R"({"id":"a","program":{}})", "program must be true, false, or", ""},
      {R"({"id":"a","program":{"hash":"00"}})", "program must be true, false, or", ""},
      {R"({"id":"a","program":{"sha":"00"}})", "program must be true, false, or", ""},
      {R"({"id":"a","program":true})", "code is missing", ""},
      {R"({"id":"a","code":"","reuse":"isolate"})", "reuse must be none or context", ""},
      {R"({"id":"a","code":"","encoding":"msgpack"})", "encoding must be json: a line of a file is JSON", ""},
      {R"({"id":"a","code":"","encoding":"cbor"})", "encoding must be json", ""},
      {R"({"id":"a","code":"","cases":[]})", "cases must be at least 1", ""},
      {R"({"id":"a","code":"","cases":{"0":1}})", "cases must be an array of inputs", ""},
      {R"({"id":"a","code":"","cases":[1],"input":1})", "cases stand in place of input", ""},
      {R"({"id":"a","code":"","cases":[1],"stopOn":"failure"})", "stopOn must be never or firstFailure", ""},
      {R"({"id":"a","code":"","stopOn":"never"})", "stopOn needs cases", ""},
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
      {R"({"id":"a","code":"","limits":{"memoryMb":999999}})",
       "limits.memoryMb must be at most 16384, whatever a pool allows (1024 ", "memoryMb"},
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
  EXPECT_EQ(FaultOf(R"({"libraries":[["x"],"y"],"code":"x","id":"late"})").id, "late");
  EXPECT_EQ(FaultOf(R"({"program":{"x":{"y":[1]},"z":2},"code":"x","id":"late"})").id, "late");
  EXPECT_EQ(FaultOf(R"({"cases":[],"code":"x","id":"late"})").id, "late");
  std::string many = "0";
  for (std::size_t i = 0; i < kMaxCases; ++i) many += ",[0]";
  EXPECT_EQ(FaultOf(R"({"cases":[)" + many + R"(],"code":"x","id":"late"})").id, "late");
  EXPECT_EQ(FaultOf(R"({"id":7,"code":"x"})").id, "12");
  EXPECT_EQ(FaultOf(R"({"id":"","code":"x"})").id, "12");
}

TEST(JobLine, NoFieldThatIsOfferedIsUnknownItself) {
  // A letter less of a name offers that name, and the name itself is never called unknown.
  for (const char* name :
       {"id",         "code",   "input",     "mode",  "limits",   "tenant", "user",        "priority",
        "deadlineMs", "retry",  "admission", "wasm",  "seed",     "clock",  "receipt",     "libraries",
        "cases",      "stopOn", "program",   "reuse", "encoding", "turn",   "onDisconnect"}) {
    JobLineParser parser({});
    const auto parsed = parser.Parse(R"({")" + std::string(name) + R"(":{"x":[]}})", 1);
    const auto* fault = std::get_if<LineFault>(&parsed);
    ASSERT_NE(fault, nullptr) << name;
    EXPECT_EQ(fault->error.message.find("unknown field"), std::string::npos) << fault->error.message;
    const std::string typo = name + std::string("x");
    const std::string offer = "unknown field " + typo + "; did you mean '" + name + "'?";
    EXPECT_NE(FaultOf("{\"" + typo + "\":1}").error.message.find(offer), std::string::npos) << typo;
  }
}

TEST(JobLine, WhatIsNotJsonIsSaidWithItsPlace) {
  EXPECT_EQ(FaultOf(R"({"id":"a","input":NaN})").error.message,
            "line 12: not valid JSON: column 19: NaN is not JSON");
}

TEST(JobLine, AParserIsGoodForManyLines) {
  JobLineParser parser({});
  for (std::uint64_t i = 1; i < 1000; ++i) {
    const std::string line = R"({"code":")" + std::string(i * 7 % 500, 'x') + R"("})";
    auto parsed = parser.Parse(line, i);
    ASSERT_TRUE(std::holds_alternative<JobLine>(parsed)) << i;
    EXPECT_EQ(std::get<JobLine>(parsed).job.code.size(), i * 7 % 500);
    EXPECT_TRUE(std::holds_alternative<LineFault>(parser.Parse(line.substr(1), i)));
  }
}

}  // namespace
}  // namespace skerry::cli
