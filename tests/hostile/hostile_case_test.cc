// The judge of hostile cases is judged first: made-up results, right and wrong.
#include "tests/hostile/hostile_case.h"

#include <gtest/gtest.h>

#include "tests/support/places.h"

namespace skerry::testing {
namespace {

HostileCase Case(const std::string& accept, const std::string& more = "") {
  return {"c", *ParseJson(R"({"id":"c","code":"","accept":)" + accept + more + "}")};
}

JobResult Result(const std::string& line) {
  return {*ParseJson(line), line};
}

const char* const kTimeout =
    R"({"id":"c","outcome":"error","error":{"code":"TIMEOUT","fault":"limit","started":true,"message":"m"},)"
    R"("events":[{"type":"console","level":"log","text":"t"}],"usage":{"wallMs":1001,"dataRequests":20}})";
const char* const kOkOne = R"({"id":"c","outcome":"ok","value":1,"events":[],"usage":{"wallMs":3}})";

TEST(HostileCase, AcceptsACodeOfItsListAndNoOther) {
  EXPECT_TRUE(Accepts(Case(R"([{"outcome":"error","code":["OOM","TIMEOUT"]}])"), Result(kTimeout)));
  EXPECT_FALSE(Accepts(Case(R"([{"outcome":"error","code":["OOM"]}])"), Result(kTimeout)));
  EXPECT_FALSE(Accepts(Case(R"([{"outcome":"ok"}])"), Result(kTimeout)));
}

TEST(HostileCase, AcceptsItsValueAndNoOther) {
  EXPECT_TRUE(Accepts(Case(R"([{"outcome":"ok","value":1}])"), Result(kOkOne)));
  EXPECT_TRUE(Accepts(Case(R"([{"outcome":"ok"}])"), Result(kOkOne)));
  EXPECT_FALSE(Accepts(Case(R"([{"outcome":"ok","value":2}])"), Result(kOkOne)));
  EXPECT_FALSE(Accepts(Case(R"([{"outcome":"ok","value":"1"}])"), Result(kOkOne)));
}

TEST(HostileCase, TellsLoneSurrogateKeysApart) {
  const auto hostile = Case(R"([{"outcome":"ok","value":{"\ud800":1,"\udfff":2}}])");
  EXPECT_TRUE(Accepts(hostile, Result(R"({"outcome":"ok","value":{"\ud800":1,"\udfff":2}})")));
  EXPECT_FALSE(Accepts(hostile, Result(R"({"outcome":"ok","value":{"\ufffd":1,"\ufffd":2}})")));
  EXPECT_FALSE(Accepts(hostile, Result(R"({"outcome":"ok","value":{"\ud800":2,"\udfff":1}})")));
}

TEST(HostileCase, DemandsItsUsageEventsAndTime) {
  const std::string end = R"([{"outcome":"error","code":["TIMEOUT"]}])";
  EXPECT_TRUE(Accepts(Case(end, R"(,"usage":{"dataRequests":20},"events":{"console":1},"wallMsBelow":1002)"),
                      Result(kTimeout)));
  EXPECT_FALSE(Accepts(Case(end, R"(,"usage":{"dataRequests":21})"), Result(kTimeout)));
  EXPECT_FALSE(Accepts(Case(end, R"(,"events":{"console":2})"), Result(kTimeout)));
  EXPECT_FALSE(Accepts(Case(end, R"(,"events":{"status":1})"), Result(kTimeout)));
  EXPECT_FALSE(Accepts(Case(end, R"(,"wallMsBelow":1001)"), Result(kTimeout)));
  EXPECT_FALSE(Accepts(Case(end, R"(,"consoleText":"other")"), Result(kTimeout)));
  EXPECT_FALSE(Accepts(Case(end, R"(,"message":"other")"), Result(kTimeout)));
}

TEST(HostileCase, NeverAcceptsThatAProgramIsAnInfrastructuresFault) {
  EXPECT_FALSE(Accepts(
      Case(R"([{"outcome":"error","code":["TIMEOUT"]}])"),
      Result(
          R"({"outcome":"error","error":{"code":"TIMEOUT","fault":"infrastructure","started":true,"message":"m"}})")));
}

TEST(HostileCase, NoResultAtAllIsNotAccepted) {
  EXPECT_FALSE(Accepts(Case(R"([{"outcome":"ok"},{"outcome":"error","code":["OOM"]}])"), JobResult()));
}

TEST(HostileCase, ALineThatDemandsSomethingOfNoCaseIsAnError) {
  const TempDir dir;
  WriteFile(dir / "demands", R"({"for":"gone","wallMsBelow":1})");
  std::vector<HostileCase> cases = {Case("[]")};
  EXPECT_THROW(AddDemands(dir / "demands", cases), std::runtime_error);
  WriteFile(dir / "demands", R"({"for":"c","wallMsBelow":1,"alsoAccept":{"outcome":"ok"}})");
  AddDemands(dir / "demands", cases);
  EXPECT_EQ(cases[0].fields.at("wallMsBelow"), 1);
  EXPECT_EQ(cases[0].fields.at("accept").size(), 1u);
}

}  // namespace
}  // namespace skerry::testing
