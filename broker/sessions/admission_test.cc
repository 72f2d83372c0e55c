#include "broker/sessions/admission.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry::broker {
namespace {

JobSpec Spec() {
  JobSpec spec;
  spec.id = JobId("a");
  return spec;
}

std::vector<Payload> Frames(const std::string& code, const std::string& input = "1") {
  return {Payload(code), Payload(input)};
}

std::optional<JobError> Try(const JobSpec& spec, const std::vector<Payload>& payloads = Frames("x"),
                            const BrokerConfig& config = {}) {
  auto admitted = Admit(spec, payloads, config);
  if (auto* refused = std::get_if<JobError>(&admitted)) return std::move(*refused);
  return std::nullopt;
}

TEST(Admission, AnAdmittedJobHasTheLimitsThatItNamesAndDefaultsForTheRest) {
  JobSpec spec = Spec();
  spec.limits = {{"timeoutMs", 5}};
  const auto admitted = Admit(spec, Frames("x"), BrokerConfig());
  ASSERT_TRUE(std::holds_alternative<Limits>(admitted));
  Limits expected;
  expected.Set(LimitId::kTimeoutMs, 5);
  EXPECT_EQ(std::get<Limits>(admitted), expected);
}

TEST(Admission, WebAssemblyIsForThoseWhoseOperatorAllowsIt) {
  JobSpec spec = Spec();
  spec.wasm = true;
  const auto refused = Try(spec);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::kValidation);
  EXPECT_NE(refused->message.find("--allow-wasm"), std::string::npos);
  BrokerConfig config;
  config.allow_wasm = true;
  EXPECT_FALSE(Try(spec, Frames("x"), config));
}

TEST(Admission, SeedsAndClocksPassUpToTheirBoundsAndOneMoreIsRefusedByName) {
  JobSpec spec = Spec();
  spec.seed = kMaxSeed;
  spec.clock_ms = kMaxClockMs;
  EXPECT_FALSE(Try(spec));
  spec.seed = kMaxSeed + 1;
  ASSERT_TRUE(Try(spec));
  EXPECT_EQ(Try(spec)->code, Code::kValidation);
  EXPECT_EQ(Try(spec)->message, "seed must be an integer from 0 to 9007199254740991");
  spec.seed = 0;
  spec.clock_ms = kMaxClockMs + 1;
  ASSERT_TRUE(Try(spec));
  EXPECT_EQ(Try(spec)->code, Code::kValidation);
  EXPECT_EQ(Try(spec)->message, "clock must be an integer from 0 to 8640000000000000, in ms since the epoch");
}

TEST(Admission, CodeOfExactlyMaxCodeBytesPassesAndOneByteMoreIsRefusedByName) {
  JobSpec spec = Spec();
  spec.limits = {{"maxCodeBytes", 10}};
  EXPECT_FALSE(Try(spec, Frames(std::string(10, 'x'))));
  const auto refused = Try(spec, Frames(std::string(11, 'x')));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::kValidation);
  EXPECT_EQ(refused->limit, "maxCodeBytes");
  EXPECT_EQ(refused->fault, Fault::kClient);
  EXPECT_FALSE(refused->started);
}

TEST(Admission, ALimitOverTheOperatorsCeilingIsRefusedNotClamped) {
  JobSpec spec = Spec();
  spec.limits = {{"memoryMb", 1025}};
  const auto refused = Try(spec);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->limit, "memoryMb");
}

TEST(Admission, AnUnknownLimitIsRefusedByItsName) {
  JobSpec spec = Spec();
  spec.limits = {{"maxFun", 1}};
  ASSERT_TRUE(Try(spec));
  EXPECT_EQ(Try(spec)->limit, "maxFun");
}

TEST(Admission, InputUpToItsBoundPassesAndOneByteMoreIsRefused) {
  EXPECT_FALSE(Try(Spec(), Frames("x", std::string(kMaxInputBytes, '1'))));
  EXPECT_TRUE(Try(Spec(), Frames("x", std::string(kMaxInputBytes + 1, '1'))));
}

TEST(Admission, PriorityDeadlineCodeHashAndIdsHaveTheirRanges) {
  JobSpec spec = Spec();
  spec.priority = -100;
  spec.deadline_ms = kMaxDeadlineMs;
  spec.code_hash = std::string(32, 'h');
  EXPECT_FALSE(Try(spec));
  spec = Spec();
  spec.priority = 101;
  EXPECT_TRUE(Try(spec));
  spec = Spec();
  spec.deadline_ms = kMaxDeadlineMs + 1;
  EXPECT_TRUE(Try(spec));
  spec = Spec();
  spec.code_hash = "short";
  EXPECT_TRUE(Try(spec));
  spec = Spec();
  spec.id = JobId();
  EXPECT_TRUE(Try(spec));
}

TEST(Admission, ASubmitHasExactlyTwoPayloadFrames) {
  EXPECT_TRUE(Try(Spec(), {Payload(std::string("x"))}));
  EXPECT_TRUE(Try(Spec(), {}));
}

TEST(Admission, FingerprintsTellHeaderCodeAndInputApart) {
  const auto base = Fingerprint(Spec(), Frames("x", "1"));
  EXPECT_EQ(base, Fingerprint(Spec(), Frames("x", "1")));
  EXPECT_NE(base, Fingerprint(Spec(), Frames("y", "1")));
  EXPECT_NE(base, Fingerprint(Spec(), Frames("x", "2")));
  EXPECT_NE(Fingerprint(Spec(), Frames("a", "b")), Fingerprint(Spec(), Frames("b", "a")));
  JobSpec other = Spec();
  other.limits = {{"timeoutMs", 7}};
  EXPECT_NE(base, Fingerprint(other, Frames("x", "1")));
  other = Spec();
  other.libraries = {"a"};
  EXPECT_NE(base, Fingerprint(other, Frames("x", "1")));
  other = Spec();
  other.seed = 0;
  EXPECT_NE(base, Fingerprint(other, Frames("x", "1")));
}

}  // namespace
}  // namespace skerry::broker
