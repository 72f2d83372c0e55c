#include "worker/agent/jobs/receipt.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace skerry::agent {
namespace {

ContentHashes Hashed(const std::string& code, const std::string& input, int* turns = nullptr) {
  ContentHashes content;
  int calls = 1;
  while (!content.HashSome(code, input)) ++calls;
  if (turns != nullptr) *turns = calls;
  return content;
}

TEST(ContentHashes, AreThoseOfCodeAndInputWhateverThePiecesTheyAreHashedIn) {
  constexpr std::size_t kPiece = ContentHashes::kPieceBytes;
  for (const std::size_t code_bytes : {std::size_t{0}, std::size_t{1}, kPiece - 1, kPiece, kPiece + 1}) {
    for (const std::size_t input_bytes : {std::size_t{0}, std::size_t{1}, kPiece - 1, kPiece, 3 * kPiece}) {
      const std::string code(code_bytes, 'c');
      const std::string input(input_bytes, 'i');
      const ContentHashes content = Hashed(code, input);
      EXPECT_EQ(content.code(), Hex(Sha256(code))) << code_bytes << " " << input_bytes;
      EXPECT_EQ(content.input(), Hex(Sha256(input))) << code_bytes << " " << input_bytes;
    }
  }
}

TEST(ContentHashes, NeverHashMoreThanOnePieceInATurn) {
  int turns = 0;
  Hashed(std::string(ContentHashes::kPieceBytes - 1, 'c'), "i", &turns);
  EXPECT_EQ(turns, 1);
  Hashed(std::string(ContentHashes::kPieceBytes, 'c'), "i", &turns);
  EXPECT_EQ(turns, 2);
  Hashed("c", std::string(64 << 20, 'i'), &turns);
  EXPECT_EQ(turns, 257);
}

JobPlan Plan() {
  wire::Dispatch dispatch;
  dispatch.job.mode = Mode::kModule;
  dispatch.job.limits = {{"timeoutMs", 5}};
  return std::get<JobPlan>(PlanJob(dispatch, {"code", ""}, 1024));
}

TEST(Receipt, SaysAllThatTheRunWasMadeOfInAFixedOrder) {
  EXPECT_EQ(
      Receipt(Plan(), Hashed("code", ""), 7, {"14.6.1-x", "--a --b"}),
      R"({"codeSha256":"5694d08a2e53ffcae0c3103e5ad6f6076abd960eb1f8a56577040bc1028f702b",)"
      R"("inputSha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",)"
      R"("mode":"module","seed":7,"clock":"real","wasm":false,"limits":{"memoryMb":256,"timeoutMs":5,)"
      R"("maxCodeBytes":524288,"maxDataRequests":20,"maxDataBytes":52428800,"maxParamsBytes":1048576,)"
      R"("maxResultBytes":5242880,"maxStatusEvents":1000,"maxConsoleEvents":1000,"maxEventBytes":65536,)"
      R"("maxEventsTotalBytes":4194304},"skerry":"0.1.0","v8":"14.6.1-x","v8Flags":"--a --b"})");
}

TEST(Receipt, NamesTheInstantOfAFrozenClockAndEveryLimitThatIsSet) {
  JobPlan plan = Plan();
  plan.dispatch.job.clock_ms = 0;
  plan.dispatch.job.wasm = true;
  plan.limits.Set(LimitId::kCpuMs, 9);
  const auto receipt = nlohmann::json::parse(Receipt(plan, Hashed("", ""), kMaxSeed, {}));
  EXPECT_EQ(receipt.at("clock"), 0);
  EXPECT_EQ(receipt.at("seed"), 9007199254740991u);
  EXPECT_EQ(receipt.at("wasm"), true);
  EXPECT_EQ(receipt.at("limits").size(), kLimitCount);
  EXPECT_EQ(receipt.at("limits").at("cpuMs"), 9);
}

TEST(Receipt, IsJsonWithinItsBoundWhateverACellSaysOfItself) {
  JobPlan plan = Plan();
  for (const LimitSpec& spec : kLimitSpecs) plan.limits.Set(spec.id, spec.hard_maximum);
  const std::string hostile(511, '"');
  const std::string text = Receipt(plan, Hashed("", ""), kMaxSeed, {"\\\n\xff" + hostile, hostile});
  EXPECT_LE(text.size(), kMaxReceiptBytes);
  EXPECT_TRUE(nlohmann::json::accept(text)) << text;
}

}  // namespace
}  // namespace skerry::agent
