#include "worker/agent/jobs/final_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace skerry::agent {
namespace {

wire::Final Claim(Code code, Fault fault, std::string limit = {}) {
  wire::Final final;
  final.code = code;
  final.fault = fault;
  final.limit = std::move(limit);
  return final;
}

wire::Final Ok() {
  wire::Final final;
  final.ok = true;
  return final;
}

std::string Detail(std::string message = "m", std::string name = "n", std::string stack = "s") {
  JobError error;
  error.message = std::move(message);
  error.name = std::move(name);
  error.stack = std::move(stack);
  error.position = {3, 4};
  return wire::DetailPayload(error);
}

// Every code, fault and limit: what is not in this list may not be claimed.
TEST(CheckFinal, AcceptsOnlyTheEndsThatAProgramCanHave) {
  using Row = std::tuple<Code, Fault, std::string>;
  const std::vector<Row> allowed = {
      {Code::kCompile, Fault::kProgram, ""},
      {Code::kRuntime, Fault::kProgram, ""},
      {Code::kLimit, Fault::kLimit, "maxDataRequests"},
      {Code::kLimit, Fault::kLimit, "maxDataBytes"},
      {Code::kLimit, Fault::kLimit, "maxParamsBytes"},
      {Code::kOom, Fault::kLimit, "memoryMb"},
      {Code::kValidation, Fault::kLimit, "maxResultBytes"},
      {Code::kValidation, Fault::kClient, "maxCodeBytes"},
      {Code::kValidation, Fault::kProgram, ""},
      {Code::kValidation, Fault::kClient, ""},
  };
  std::vector<std::string> limits = {"", "nonsense"};
  for (const LimitSpec& spec : kLimitSpecs) limits.emplace_back(spec.name);
  for (int code = 0; code < kCodeCount; ++code) {
    for (int fault = 0; fault < 4; ++fault) {
      for (const std::string& limit : limits) {
        const Row row{static_cast<Code>(code), static_cast<Fault>(fault), limit};
        const bool expected = std::find(allowed.begin(), allowed.end(), row) != allowed.end();
        const auto outcome = CheckFinal(Claim(std::get<0>(row), std::get<1>(row), limit), Detail(), Limits());
        EXPECT_EQ(outcome.has_value(), expected)
            << NameOf(std::get<0>(row)) << " " << NameOf(std::get<1>(row)) << " " << limit;
      }
    }
  }
}

TEST(CheckFinal, TakesNameStackAndPositionOfCompileAndRuntimeErrorsOnly) {
  const auto runtime = CheckFinal(Claim(Code::kRuntime, Fault::kProgram), Detail(), Limits());
  EXPECT_EQ(runtime->error->name, "n");
  EXPECT_EQ(runtime->error->stack, "s");
  EXPECT_EQ(runtime->error->position, (SourcePosition{3, 4}));
  const auto oom = CheckFinal(Claim(Code::kOom, Fault::kLimit, "memoryMb"), Detail(), Limits());
  EXPECT_EQ(oom->error->name, "SandboxOOMError");
  EXPECT_EQ(oom->error->stack, "");
}

TEST(CheckFinal, NeverBelievesThatARunHasNotStartedOrIsWorthRetrying) {
  wire::Final final = Claim(Code::kRuntime, Fault::kProgram);
  final.started = false;
  final.retryable = true;
  final.retry_after_ms = 5;
  const auto outcome = CheckFinal(final, Detail(), Limits());
  EXPECT_TRUE(outcome->error->started);
  EXPECT_FALSE(outcome->error->retryable);
  EXPECT_EQ(outcome->error->retry_after_ms, 0u);
}

TEST(CheckFinal, TakesAHeapPeakThatAJobCanHaveHad) {
  wire::Final final = Ok();
  final.usage.heap_peak_bytes = 5u << 20;
  EXPECT_EQ(CheckFinal(final, "1", Limits())->usage.heap_peak_bytes, 5u << 20);
  final.usage.heap_peak_bytes = ~0ull;
  EXPECT_EQ(CheckFinal(final, "1", Limits())->usage.heap_peak_bytes, 0u);
}

TEST(CheckFinal, CutsErrorTextsWithoutSplittingACharacter) {
  // 16384 = 3 * 5461 + 1, so the cut falls inside a three-byte character.
  std::string euros;
  for (int i = 0; i < 6000; ++i) euros += "\xE2\x82\xAC";
  const auto outcome = CheckFinal(Claim(Code::kRuntime, Fault::kProgram), Detail(euros), Limits());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error->message.size(), 5461u * 3);
}

TEST(CheckFinal, RefusesDamagedTexts) {
  EXPECT_FALSE(CheckFinal(Claim(Code::kRuntime, Fault::kProgram), "\xc1", Limits()));
  EXPECT_FALSE(CheckFinal(Claim(Code::kRuntime, Fault::kProgram), Detail("\xff"), Limits()));
  EXPECT_FALSE(CheckFinal(Claim(Code::kRuntime, Fault::kProgram), Detail("m", "\xed\xa0\x80"), Limits()));
}

TEST(CheckFinal, HoldsAResultToItsSizeAndToJson) {
  Limits limits;
  limits.Set(LimitId::kMaxResultBytes, 4);
  EXPECT_EQ(CheckFinal(Ok(), "1234", limits)->value, "1234");
  EXPECT_EQ(CheckFinal(Ok(), "1234", limits)->usage.result_bytes, 4u);
  EXPECT_FALSE(CheckFinal(Ok(), "12345", limits));
  EXPECT_FALSE(CheckFinal(Ok(), "", limits));
  EXPECT_FALSE(CheckFinal(Ok(), "{\"a", limits));
}

TEST(CheckFinal, TakesAValueInMessagePackAndTheSizeOfItsTextAsFarAsThatCanBe) {
  Limits limits;
  limits.Set(LimitId::kMaxResultBytes, 10);
  const auto check = [&](std::string value, std::uint64_t told) {
    wire::Final final = Ok();
    final.usage.result_bytes = told;
    return CheckFinal(final, std::move(value), limits, Encoding::kMsgpack);
  };
  EXPECT_EQ(check("\x91\x01", 3)->usage.result_bytes, 3u);
  EXPECT_EQ(check("\x91\x01", 10)->usage.result_bytes, 10u);
  EXPECT_EQ(check("\x91\x01", 11)->usage.result_bytes, 1u) << "past the limit";
  EXPECT_EQ(check("\x91\x01", 0)->usage.result_bytes, 1u) << "no text is that short";
  EXPECT_TRUE(check("\xbd" + std::string(29, 'x'), 10).has_value());
  EXPECT_FALSE(check("\xbe" + std::string(30, 'x'), 10).has_value()) << "at least 11 bytes of JSON";
  for (const char* wrong : {"", "\xc1", "\x01\x02",
                            "\xc4\x01"
                            "a"})
    EXPECT_FALSE(check(wrong, 1)) << wrong;
  EXPECT_FALSE(CheckFinal(Ok(), "\x91\x01", limits)) << "of a job whose values are JSON";
}

}  // namespace
}  // namespace skerry::agent
