// Every case of the shared corpus of hostile inputs, one test each, against the engine alone: a fork, a
// budget and a deadline set from outside stand in for the worker. The corpus is at $SKERRY_SHARED_DIR or
// beside the source tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "worker/engine/testing/forked_run.h"

namespace skerry::engine {
namespace {

using nlohmann::json;

std::string CorpusPath() {
  const char* const folder = std::getenv("SKERRY_SHARED_DIR");
  return std::string(folder != nullptr ? folder : SKERRY_SOURCE_DIR "/../shared") + "/cases/hostile.jsonl";
}

std::vector<json> Corpus() {
  std::vector<json> cases;
  std::ifstream file(CorpusPath());
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    json parsed = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_discarded()) {  // an accepted value with lone surrogates, which the test compares as text
      parsed = json::parse(std::regex_replace(line, std::regex(R"(, "value": \{[^}]*\})"), ""));
    }
    cases.push_back(std::move(parsed));
  }
  return cases;
}

/// What a case accepts. The corpus says of oth-data-huge-argument "RUNTIME, or the code of the new cap on
/// host-call params": that cap is maxParamsBytes, whose uncaught error is LIMIT (DESIGN section 3).
json AcceptListOf(const json& c) {
  json accept = c["accept"];
  if (c["id"] == "oth-data-huge-argument") accept[0]["code"] = {"LIMIT"};
  return accept;
}

/// Whether the case's accept list has this end, value included.
bool Accepts(const json& accept, const Ending& ending) {
  return std::any_of(accept.begin(), accept.end(), [&](const json& end) {
    if (end["outcome"] == "ok") {
      return ending.ok() && (!end.contains("value") || json::parse(ending.outcome.value) == end["value"]);
    }
    const auto& codes = end["code"];
    return !ending.ok() && std::find(codes.begin(), codes.end(), ending.Verdict()) != codes.end();
  });
}

class Hostile : public testing::TestWithParam<json> {};

TEST_P(Hostile, EndsAsTheCorpusAccepts) {
  const json& c = GetParam();
  ForkedRun run(c["code"].get<std::string>());
  for (const auto& [name, value] : c["limits"].items()) {
    const auto limit = LimitByName(name);
    ASSERT_TRUE(limit) << name;
    run.With(*limit, value);
  }
  run.deadline = Millis(c["limits"]["timeoutMs"].get<std::int64_t>());
  const Ending ending = run.Go();
  if (c["id"] == "res-lone-surrogate-keys") {  // the text is compared, since a parser refuses what it escapes
    EXPECT_EQ(ending.outcome.value, R"({"\ud800":1,"\udfff":2})");
    return;
  }
  EXPECT_TRUE(Accepts(AcceptListOf(c), ending)) << c["code"] << "\n"
                                                << c["accept"] << "\n"
                                                << ending.Describe();
  const std::uint64_t budget = Bytes::MiB(run.program.limits.memory_mb() + 40).count();
  EXPECT_LE(ending.peak_private_bytes, budget) << ending.Describe();
}

std::string NameOfCase(const testing::TestParamInfo<json>& info) {
  std::string name = info.param["id"];
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Corpus, Hostile, testing::ValuesIn(Corpus()), NameOfCase);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Hostile);

TEST(HostileCorpus, IsThere) {
  if (Corpus().empty()) GTEST_SKIP() << "no hostile corpus at " << CorpusPath() << "; set SKERRY_SHARED_DIR";
  EXPECT_GE(Corpus().size(), 100u);
}

}  // namespace
}  // namespace skerry::engine
