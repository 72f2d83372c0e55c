// What --resume makes of a results file in which jobs have cases.
#include "clients/cli/kept_cases.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "clients/cli/result_file.h"
#include "clients/cli/result_line.h"

namespace skerry::cli {
namespace {

class ResumedCases : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "skerry-cases-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/results";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string Case(const std::string& id, std::uint32_t number,
                          std::optional<Code> code = std::nullopt) {
    Outcome outcome;
    outcome.value = "1";
    if (code) outcome.error = MakeError(*code, "m");
    return CaseLine({JobId(id), number}, outcome, "");
  }
  static std::string Summary(const std::string& id, std::vector<std::optional<Code>> ends) {
    CasesSummary summary;
    for (const auto& end : ends) {
      Outcome outcome;
      if (end) outcome.error = MakeError(*end, "m");
      summary.Count(outcome);
    }
    return SummaryLine(JobId(id), summary);
  }
  ResultFile Resume(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    auto file = ResultFile::Open(path_, Existing::kKeep);
    EXPECT_TRUE(file) << file.error().message;
    return std::move(*file);
  }
  std::string Get() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }
  static bool Done(const ResultFile& file, const std::string& id, std::uint32_t number) {
    return file.done().Contains(KeptCases::Key(id, number));
  }

  std::string folder_;
  std::string path_;
};

TEST_F(ResumedCases, ACaseIsDoneByItselfAndItsJobIsNotUntilItsSummaryIsThere) {
  const ResultFile file =
      Resume(Case("a", 0) + Case("b", 1) + Case("a", 2, Code::kTimeout) +
             Summary("a", {std::nullopt, Code::kTimeout}) + Case("b", 0, Code::kCancelled));
  EXPECT_TRUE(file.done().Contains("a"));
  EXPECT_FALSE(file.done().Contains("b"));
  EXPECT_TRUE(Done(file, "a", 0));
  EXPECT_FALSE(Done(file, "a", 1));
  EXPECT_TRUE(Done(file, "a", 2));
  EXPECT_TRUE(Done(file, "b", 1));
  EXPECT_EQ(file.kept_ok(), 2u);
  EXPECT_EQ(file.kept_errors(), 2u) << "a summary is no result of its own";
  const CasesSummary kept = file.kept_cases().Of("b");
  EXPECT_EQ(kept.cases, 2u);
  EXPECT_EQ(kept.ok, 1u);
  EXPECT_EQ(kept.cancelled, 1u);
  EXPECT_EQ(file.kept_cases().Of("a").cases, 0u) << "of a job that is done nothing is kept";
}

TEST_F(ResumedCases, ACaseOfOneJobIsNotAnotherJobsResult) {
  const ResultFile file = Resume(Case("a", 0));
  EXPECT_FALSE(file.done().Contains("a"));
  EXPECT_FALSE(file.done().Contains("a0"));
  EXPECT_FALSE(Done(file, "a0", 0));
  EXPECT_FALSE(Done(file, "", 0));
}

TEST_F(ResumedCases, ACutCaseIsRunAgain) {
  const std::string whole = Case("a", 0);
  const ResultFile file = Resume(whole + Case("a", 1).substr(0, 30));
  EXPECT_EQ(Get(), whole);
  EXPECT_FALSE(Done(file, "a", 1));
}

TEST_F(ResumedCases, ACaseThatIsRunAgainTakesItsSummaryWithIt) {
  const std::string others = Case("b", 0) + Summary("b", {std::nullopt});
  {
    const ResultFile file = Resume(Case("a", 0, Code::kRuntime) + Case("a", 1, Code::kLost) + others +
                                   Case("a", 2, Code::kRateLimited) +
                                   Summary("a", {Code::kRuntime, Code::kLost, Code::kRateLimited}));
    EXPECT_EQ(Get(), Case("a", 0, Code::kRuntime) + others);
    EXPECT_EQ(file.run_again(), 2u);
    EXPECT_FALSE(file.done().Contains("a"));
    EXPECT_TRUE(file.done().Contains("b"));
    EXPECT_TRUE(Done(file, "a", 0));
    EXPECT_FALSE(Done(file, "a", 1));
    EXPECT_EQ(file.kept_cases().Of("a").failed(), 1u);
    EXPECT_EQ(file.kept_cases().Of("a").by_code[static_cast<std::size_t>(Code::kRuntime)], 1u);
  }
  const ResultFile again = Resume(Get());
  EXPECT_EQ(again.run_again(), 0u);
  EXPECT_EQ(again.kept_cases().Of("a").cases, 1u);
}

TEST_F(ResumedCases, HowACaseEndedIsReadAsItWasWritten) {
  Outcome refused;
  refused.error = MakeError(Code::kValidation, "m");
  refused.error->fault = Fault::kLimit;
  refused.error->started = true;
  const ResultFile file = Resume(CaseLine({JobId("a"), 0}, refused, "") + Case("b", 0, Code::kCancelled));
  const CasesSummary kept = file.kept_cases().Of("a");
  EXPECT_EQ(kept.started, 1u);
  EXPECT_EQ(kept.faults[static_cast<std::size_t>(Code::kValidation)], Fault::kLimit);
  EXPECT_EQ(file.kept_cases().Of("b").started, 0u);
}

TEST_F(ResumedCases, ACaseThatHasTwoLinesCountsOnce) {
  const ResultFile file = Resume(Case("a", 0) + Case("a", 0) + Case("a", 1));
  EXPECT_EQ(file.kept_cases().Of("a").cases, 2u);
  EXPECT_EQ(file.kept_ok(), 2u);
}

TEST_F(ResumedCases, ASummaryThatIsAnInfrastructureFaultGoesOnlyWithItsCases) {
  // Its lost cases were run again and went well meanwhile: nothing is left to do.
  const std::string text = Case("a", 0) + Summary("a", {Code::kLost});
  const ResultFile file = Resume(text);
  EXPECT_EQ(Get(), text);
  EXPECT_TRUE(file.done().Contains("a"));
}

TEST_F(ResumedCases, AsManyCasesAsAJobMayHaveAreEachDone) {
  std::string text;
  for (std::uint32_t i = 0; i < kMaxCases; ++i)
    text += R"({"id":"a","case":)" + std::to_string(i) + R"(,"outcome":"ok"})" + "\n";
  const ResultFile file = Resume(text);
  EXPECT_EQ(file.done().size(), kMaxCases);
  EXPECT_EQ(file.kept_cases().Of("a").ok, kMaxCases);
}

}  // namespace
}  // namespace skerry::cli
