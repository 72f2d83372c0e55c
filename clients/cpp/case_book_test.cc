#include "clients/cpp/case_book.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "clients/cpp/testing/core_harness.h"

namespace skerry::client {
namespace {

class Cases : public Core {
 protected:
  explicit Cases(ClientOptions options = {}) : Core(std::move(options)), book_(SessionId("s"), Bytes(1000)) {}

  static CasesRequest Of(const std::string& id, std::size_t count, StopOn stop_on = StopOn::kNever) {
    CasesRequest request;
    request.spec.id = JobId(id);
    request.spec.program = true;
    request.program = Program::Of("code");
    for (std::size_t i = 0; i < count; ++i) request.inputs.push_back(std::to_string(i));
    request.stop_on = stop_on;
    return request;
  }
  SubmitResult Add(CasesRequest request) {
    auto taken = book_.Add(request, now_);
    EXPECT_TRUE(taken) << taken.error().message;
    Turn();
    return taken.value_or(SubmitResult::kFull);
  }
  std::string Fault(CasesRequest request) {
    auto taken = book_.Add(request, now_);
    if (taken) return "was taken";
    EXPECT_EQ(taken.error().kind, ErrorKind::kInvalid);
    return taken.error().message;
  }
  void Turn() {
    for (ClientEvent& event : book_.Turn(core_, now_)) events_.push_back(std::move(event));
  }
  void End(const std::string& id, std::uint32_t number, Code code) {
    Final(Name(id, number), false, code);
    Turn();
  }
  void End(const std::string& id, std::uint32_t number) {
    Final(Name(id, number));
    Turn();
  }
  std::string Name(const std::string& id, std::uint32_t number) const {
    return book_.NameOf(JobId(id), number).str();
  }
  /// "a/0 ok", "a/1 CANCELLED", "a: 2 cases", in order; what is not of a case without its slash.
  std::vector<std::string> Told() {
    Turn();
    std::vector<std::string> told;
    for (const ClientEvent& event : std::exchange(events_, {})) {
      if (const auto* final = std::get_if<JobFinal>(&event)) {
        const auto& of = final->of_case;
        const std::string name = of ? of->job.str() + "/" + std::to_string(of->number) : final->id.str();
        if (!final->outcome.ok()) messages_[name] = final->outcome.error->message;
        told.push_back(name + " " +
                       (final->outcome.ok() ? "ok" : std::string(NameOf(final->outcome.error->code))));
      } else if (const auto* ended = std::get_if<CasesEnded>(&event)) {
        summaries_[ended->id.str()] = ended->summary;
        told.push_back(ended->id.str() + ": " + std::to_string(ended->summary.cases) + " cases");
      } else {
        told.emplace_back("something else");
      }
    }
    return told;
  }
  std::vector<std::string> Submitted() {
    std::vector<std::string> names;
    for (const auto& submit : Sent<wire::Submit>()) names.push_back(submit.job.id.str());
    sent_.clear();
    return names;
  }

  CaseBook book_;
  std::vector<ClientEvent> events_;
  std::map<std::string, CasesSummary> summaries_;
  std::map<std::string, std::string> messages_;  // of those that Told told
};

using Lines = std::vector<std::string>;

TEST_F(Cases, EachIsAJobAndEndsAsACaseAndThenComesTheSummary) {
  Welcome();
  Add(Of("a", 3));
  Sent<wire::Submit>();
  ASSERT_EQ(sent_.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(*sent_[i].payloads.at(0), i == 0 ? "code" : "") << "the code is sent once";
    EXPECT_EQ(*sent_[i].payloads.at(1), std::to_string(i));
    EXPECT_TRUE(std::get<wire::Submit>(sent_[i].header).job.program);
  }
  now_ += Millis(250);
  End("a", 2);
  End("a", 0, Code::kTimeout);
  EXPECT_EQ(Told(), (Lines{"a/2 ok", "a/0 TIMEOUT"}));
  End("a", 1);
  EXPECT_EQ(Told(), (Lines{"a/1 ok", "a: 3 cases"}));
  const CasesSummary& summary = summaries_["a"];
  EXPECT_EQ(summary.ok, 2u);
  EXPECT_EQ(summary.failed(), 1u);
  EXPECT_EQ(summary.by_code[static_cast<std::size_t>(Code::kTimeout)], 1u);
  EXPECT_EQ(summary.cancelled, 0u);
  EXPECT_EQ(summary.wall, Millis(250));
}

TEST_F(Cases, TheFirstFailureCancelsThoseThatRunAndThoseThatWaitAndEachEndsOnce) {
  Welcome(false, 4);  // three of them for cases
  Add(Of("a", 6, StopOn::kFirstFailure));
  EXPECT_EQ(Submitted().size(), 3u);
  End("a", 1, Code::kRuntime);
  EXPECT_EQ(Told(), (Lines{"a/1 RUNTIME", "a/3 CANCELLED", "a/4 CANCELLED", "a/5 CANCELLED"}));
  EXPECT_EQ(Sent<wire::Cancel>().size(), 2u);
  EXPECT_TRUE(Submitted().empty());
  End("a", 0);  // it was faster than its CANCEL
  End("a", 2, Code::kCancelled);
  EXPECT_EQ(Told(), (Lines{"a/0 ok", "a/2 CANCELLED", "a: 6 cases"}));
  EXPECT_EQ(summaries_["a"].cancelled, 4u);
  EXPECT_EQ(summaries_["a"].failed(), 1u);
  EXPECT_EQ(core_.unfinished(), 0u);
}

TEST_F(Cases, WhatTheFirstFailureCancelledSaysWhichItWas) {
  Welcome(false, 4);
  Add(Of("a", 4, StopOn::kFirstFailure));
  End("a", 1, Code::kRuntime);
  End("a", 0, Code::kCancelled);
  Told();
  EXPECT_EQ(messages_["a/3"], "not run: case 1 failed");
  EXPECT_EQ(messages_["a/0"], "not run: case 1 failed");
}

TEST_F(Cases, AnEndThatIsNoVerdictStopsNothing) {
  Welcome();
  Add(Of("a", 3, StopOn::kFirstFailure));
  End("a", 0, Code::kRateLimited);
  wire::Final lost;
  lost.id = JobId(Name("a", 1));
  lost.code = Code::kLost;
  lost.fault = Fault::kInfrastructure;
  core_.OnMessage(lost, {""}, now_);
  Turn();
  EXPECT_TRUE(Sent<wire::Cancel>().empty());
  End("a", 2);
  EXPECT_EQ(Told().back(), "a: 3 cases");
  EXPECT_EQ(summaries_["a"].failed(), 2u);
}

TEST_F(Cases, WithoutAStopAllRunWhateverFails) {
  Welcome();
  Add(Of("a", 2));
  End("a", 0, Code::kRuntime);
  EXPECT_TRUE(Sent<wire::Cancel>().empty());
  End("a", 1);
  EXPECT_EQ(Told(), (Lines{"a/0 RUNTIME", "a/1 ok", "a: 2 cases"}));
}

TEST_F(Cases, CancellingThemEndsEach) {
  Welcome(false, 4);
  Add(Of("a", 5));
  EXPECT_TRUE(book_.Cancel(JobId("a"), core_, now_));
  EXPECT_TRUE(book_.Cancel(JobId("a"), core_, now_));
  EXPECT_FALSE(book_.Cancel(JobId("b"), core_, now_));
  EXPECT_EQ(Told(), (Lines{"a/3 CANCELLED", "a/4 CANCELLED"}));
  EXPECT_EQ(Sent<wire::Cancel>().size(), 3u);
  for (const std::uint32_t number : {0u, 1u, 2u}) End("a", number, Code::kCancelled);
  EXPECT_EQ(Told().back(), "a: 5 cases");
}

TEST_F(Cases, CancelledBeforeABrokerIsThereTheyEndAtOnce) {
  Add(Of("a", 2));
  book_.Cancel(JobId("a"), core_, now_);
  Lines told = Told();
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told.back(), "a: 2 cases");
  Welcome();
  EXPECT_TRUE(Submitted().empty());
}

TEST_F(Cases, OneCaseIsCancelledByItsName) {
  Welcome();
  Add(Of("a", 2));
  core_.Cancel(JobId(Name("a", 1)));
  EXPECT_EQ(Sent<wire::Cancel>().size(), 1u);
  End("a", 1, Code::kCancelled);
  End("a", 0);
  EXPECT_EQ(Told().back(), "a: 2 cases");
}

TEST_F(Cases, TheyLeaveAQuarterOfThePlacesToOtherJobs) {
  Welcome(false, 8);
  Add(Of("a", 10));
  EXPECT_EQ(Submitted().size(), 6u);
  EXPECT_EQ(Submit("x"), SubmitResult::kTaken);
  EXPECT_EQ(Submit("y"), SubmitResult::kTaken);
  EXPECT_EQ(Submit("z"), SubmitResult::kFull);
  End("a", 0);
  EXPECT_EQ(Submitted().size(), 3u) << "x, y and the next case";
  EXPECT_EQ(Submit("z"), SubmitResult::kFull);
  Final("x");
  Turn();
  EXPECT_TRUE(Submitted().empty()) << "the place is not the cases'";
  EXPECT_EQ(Submit("z"), SubmitResult::kTaken);
}

TEST_F(Cases, OfFewPlacesTheyTakeAllButOneAndTheOnlyOne) {
  for (const auto& [places, share] : std::map<std::uint64_t, std::size_t>{{1, 1}, {2, 1}, {3, 2}, {4, 3}}) {
    ClientCore core(ClientOptions{}, SessionId("s"), now_);
    CaseBook book(SessionId("s"), Bytes(1000));
    wire::Welcome welcome;
    welcome.credit = places;
    core.OnMessage(welcome, {}, now_);
    CasesRequest request = Of("a", 8);
    ASSERT_TRUE(book.Add(request, now_));
    book.Turn(core, now_);
    EXPECT_EQ(core.unfinished(), share) << places << " places";
  }
}

TEST_F(Cases, ACaseForWhichThereIsNoPlaceYetWaitsWithItsInput) {
  Welcome(false, 2);
  Submit("x");
  Submit("y");
  Add(Of("a", 2));
  Clear();
  Final("x");
  Turn();
  Sent<wire::Submit>();
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(*sent_[0].payloads.at(1), "0");
}

TEST_F(Cases, SetsTakeTurns) {
  Welcome(false, 4);
  Add(Of("a", 5));
  Submitted();
  Add(Of("b", 5));
  End("a", 0);
  End("a", 1);
  End("a", 2);
  EXPECT_EQ(Submitted(), (Lines{Name("a", 3), Name("b", 0), Name("a", 4)}));
  End("b", 0);
  End("a", 3);
  EXPECT_EQ(Submitted(), (Lines{Name("b", 1), Name("b", 2)}));
}

TEST_F(Cases, ASetIsTakenWhileWhatWaitsIsWithinItsBoundAndTheFirstWhateverItsSize) {
  Welcome(false, 1);
  CasesRequest large = Of("large", 2);
  large.inputs[1] = std::string(900 - 64, '1');
  EXPECT_EQ(Add(std::move(large)), SubmitResult::kTaken);  // one is submitted, 900 bytes wait
  CasesRequest over = Of("b", 1);
  over.inputs[0] = std::string(101 - 64, '1');
  EXPECT_EQ(Add(over), SubmitResult::kFull);
  over.inputs[0].pop_back();
  ASSERT_EQ(*book_.Add(over, now_), SubmitResult::kTaken);
  EXPECT_TRUE(over.inputs.empty());
  End("large", 0);
  End("large", 1);
  End("b", 0);
  CasesRequest huge = Of("huge", 1);
  huge.inputs[0] = std::string(5000, '1');
  EXPECT_EQ(Add(std::move(huge)), SubmitResult::kTaken);
}

TEST_F(Cases, ARequestThatIsRefusedForWantOfRoomIsLeftAsItWas) {
  Welcome(false, 1);
  Add(Of("a", 2));
  CasesRequest request = Of("b", 20);
  EXPECT_EQ(*book_.Add(request, now_), SubmitResult::kFull);
  EXPECT_EQ(request.inputs.size(), 20u);
  EXPECT_EQ(request.inputs[19], "19");
  EXPECT_EQ(request.spec.id.str(), "b");
}

TEST_F(Cases, WhatIsWrongWithARequestIsSaid) {
  EXPECT_NE(Fault(Of("a", 0)).find("cases must be 1 to 100000"), std::string::npos);
  EXPECT_NE(Fault(Of("a", kMaxCases + 1)).find("not 100001"), std::string::npos);
  EXPECT_NE(Fault(Of("", 1)).find("id must be"), std::string::npos);
  CasesRequest request = Of("a", 2);
  request.numbers = {1};
  EXPECT_NE(Fault(request).find("as many numbers"), std::string::npos);
  request.numbers = {1, 1};
  EXPECT_NE(Fault(request).find("ascending"), std::string::npos);
  request = Of("a", 2);
  request.program = nullptr;
  EXPECT_NE(Fault(request).find("need a program"), std::string::npos);
  Add(Of("a", 1));
  EXPECT_NE(Fault(Of("a", 1)).find("unfinished already"), std::string::npos);
  CaseBook unbounded(SessionId("s"), Bytes::MiB(64));
  CasesRequest most = Of("most", kMaxCases);
  EXPECT_TRUE(unbounded.Add(most, now_));
}

TEST_F(Cases, ThoseThatAreGivenNumbersKeepThem) {
  Welcome();
  CasesRequest request = Of("a", 2);
  request.numbers = {7, 99'999};
  Add(std::move(request));
  EXPECT_EQ(Submitted(), (Lines{Name("a", 7), Name("a", 99'999)}));
  End("a", 99'999);
  EXPECT_EQ(Told(), Lines{"a/99999 ok"});
}

TEST_F(Cases, ANameIsTheSameInEveryLifeOfTheSessionAndFitsWhateverTheId) {
  const CaseBook again(SessionId("s"), Bytes(1));
  const CaseBook other(SessionId("t"), Bytes(1));
  EXPECT_EQ(again.NameOf(JobId("a"), 3).str(), Name("a", 3));
  EXPECT_NE(other.NameOf(JobId("a"), 3).str(), Name("a", 3));
  EXPECT_NE(Name("a", 13), Name("a", 3));
  EXPECT_NE(Name("a:3", 1), Name("a", 31));
  std::string longest;
  while (longest.size() + 3 <= kMaxIdBytes) longest += "\xe2\x82\xac";
  longest += "x";
  ASSERT_EQ(longest.size(), kMaxIdBytes);
  EXPECT_LE(Name(longest, 99'999).size(), kMaxIdBytes);
  EXPECT_NE(Name(longest, 1), Name(longest.substr(0, 255) + "y", 1)) << "the ends that are cut off differ";
  Welcome();
  CasesRequest request = Of("a", 1);
  request.spec.id = JobId(longest);
  EXPECT_EQ(Add(std::move(request)), SubmitResult::kTaken);
  EXPECT_EQ(Submitted(), Lines{Name(longest, 0)});
}

TEST_F(Cases, AJobOfTheSameIdIsAnother) {
  Welcome();
  Add(Of("a", 1));
  EXPECT_EQ(Submit("a"), SubmitResult::kTaken);
  Final("a");
  End("a", 0);
  EXPECT_EQ(Told(), (Lines{"a ok", "a/0 ok", "a: 1 cases"}));
}

TEST_F(Cases, AJobThatWasGivenACasesVeryNameCostsThatCaseOnly) {
  Welcome();
  Submit(Name("a", 0));
  Add(Of("a", 2));
  EXPECT_EQ(Told(), Lines{"a/0 VALIDATION"});
  End("a", 1);
  EXPECT_EQ(Told(), (Lines{"a/1 ok", "a: 2 cases"}));
}

TEST_F(Cases, ACasesEventsSayWhoseTheyAre) {
  Welcome();
  Add(Of("a", 2));
  Event(Name("a", 1), 1, "hi");
  Event(Name("a", 1), 2, "again");
  Turn();
  ASSERT_EQ(events_.size(), 3u);
  EXPECT_EQ(std::get<JobNotice>(events_[0]).of_case->number, 1u);
  EXPECT_EQ(std::get<JobNotice>(events_[0]).of_case->job.str(), "a");
  EXPECT_EQ(std::get<JobRestarted>(events_[1]).of_case->number, 1u);
}

TEST_F(Cases, NothingFollowsAFailedLink) {
  Welcome(false, 2);
  Add(Of("a", 5));
  core_.OnMessage(wire::Refuse{"no"}, {}, now_);
  EXPECT_EQ(Told(), Lines{"something else"});
  EXPECT_FALSE(book_.Cancel(JobId("a"), core_, now_));
  EXPECT_TRUE(Told().empty());
}

TEST_F(Cases, ASetWhoseCasesNoBrokerTakesEndsAtOnce) {
  capabilities_ = {};
  Welcome();
  CasesRequest request = Of("a", 5000, StopOn::kFirstFailure);
  request.spec.libraries = {"lodash"};
  book_ = CaseBook(SessionId("s"), Bytes::MiB(1));
  Add(std::move(request));
  const Lines told = Told();
  ASSERT_EQ(told.size(), 5001u);
  EXPECT_EQ(told[0], "a/0 VALIDATION");
  EXPECT_EQ(told[5000], "a: 5000 cases");
}

}  // namespace
}  // namespace skerry::client
