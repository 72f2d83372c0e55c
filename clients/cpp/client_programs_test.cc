// Programs that many jobs share: how often their code crosses the wire, and what it costs to keep it.
#include <gtest/gtest.h>

#include "clients/cpp/testing/core_harness.h"
#include "common/hash.h"

namespace skerry::client {
namespace {

class Programs : public Core {
 protected:
  explicit Programs(ClientOptions options = {}) : Core(std::move(options)) {}

  JobRequest Run(const std::string& id, const std::string& tenant = "default") const {
    JobRequest request;
    request.spec.id = JobId(id);
    request.spec.tenant = TenantId(tenant);
    request.spec.program = true;
    request.program = program_;
    request.input = "1";
    return request;
  }
  /// "a:code" for each SUBMIT so far, in order; "a:" where the code was left out.
  std::vector<std::string> Carried() {
    Sent<wire::Submit>();
    std::vector<std::string> carried;
    for (const Outgoing& out : sent_) {
      if (const auto* submit = std::get_if<wire::Submit>(&out.header))
        carried.push_back(submit->job.id.str() + ":" + *out.payloads.at(0));
    }
    sent_.clear();
    return carried;
  }
  void Need(const std::string& id) { core_.OnMessage(wire::Need{JobId(id), LeaseId()}, {}, now_); }
  Outcome OnlyEnd() {
    auto events = Events();
    EXPECT_EQ(events.size(), 1u);
    auto* final = events.empty() ? nullptr : std::get_if<JobFinal>(&events[0]);
    EXPECT_NE(final, nullptr);
    return final == nullptr ? Outcome() : final->outcome;
  }

  const std::shared_ptr<const Program> program_ = Program::Of("code");
};

using Submits = std::vector<std::string>;

TEST_F(Programs, CodeCrossesALinkOnceAndItsHashNamesItThen) {
  Welcome();
  Submit(Run("a"));
  Submit(Run("b"));
  const auto submits = Sent<wire::Submit>();
  ASSERT_EQ(submits.size(), 2u);
  EXPECT_TRUE(submits[1].job.program);
  EXPECT_EQ(submits[1].job.code_hash, Sha256("code"));
  EXPECT_EQ(Carried(), (Submits{"a:code", "b:"}));
  Final("a");
  Final("b");
  Submit(Run("x"));
  EXPECT_EQ(Carried(), Submits{"x:"});
}

TEST_F(Programs, ALineThatBringsTheSameCodeAgainSharesItToo) {
  Welcome();
  for (const char* id : {"a", "b"}) {
    JobRequest request = Request(id);
    request.spec.program = true;
    Submit(std::move(request));
  }
  EXPECT_EQ(Carried(), (Submits{"a:code", "b:"}));
}

TEST_F(Programs, JobsThatShareCodeShareItsOneTextHoweverTheyBroughtIt) {
  capabilities_ = {};
  Welcome();
  Submit(Run("a"));
  JobRequest own = Request("b");
  own.spec.program = true;
  Submit(std::move(own));
  Sent<wire::Submit>();
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_EQ(sent_[0].payloads.at(0).get(), &program_->text());
  EXPECT_EQ(sent_[1].payloads.at(0).get(), &program_->text());
}

TEST_F(Programs, AJobThatIsNoProgramAlwaysCarriesItsCode) {
  Welcome();
  Submit(Run("a"));
  Submit("plain");
  JobRequest shares = Run("shares");
  shares.spec.program = false;
  Submit(std::move(shares));
  EXPECT_EQ(Carried(), (Submits{"a:code", "plain:code", "shares:code"}));
}

TEST_F(Programs, EachTenantBringsItsOwn) {
  Welcome();
  Submit(Run("a", "t"));
  Submit(Run("b", "u"));
  Submit(Run("x", "t"));
  EXPECT_EQ(Carried(), (Submits{"a:code", "b:code", "x:"}));
}

TEST_F(Programs, AnotherLinkCarriesItAgainOnceWhetherOrNotTheSessionIsKept) {
  Welcome();
  Submit(Run("a"));
  Submit(Run("b"));
  Carried();
  for (const bool resumed : {true, false}) {
    core_.OnMessage(wire::Bye{}, {}, now_);
    Clear();
    Welcome(resumed);
    EXPECT_EQ(Carried(), (Submits{"a:code", "b:"}));
  }
}

TEST_F(Programs, ABrokerThatNeedsTheCodeGetsItWithTheFirstJobItAskedFor) {
  Welcome();
  for (const char* id : {"a", "b", "x", "y"}) Submit(Run(id));
  Carried();
  Need("b");
  Need("x");
  Need("y");
  EXPECT_EQ(Carried(), (Submits{"b:code", "x:", "y:"}));
  // It keeps no programs at all, say: a second time a job does not wait for what another brings.
  Need("y");
  Need("x");
  EXPECT_EQ(Carried(), (Submits{"y:code", "x:code"}));
  for (const char* id : {"a", "b", "x", "y"}) Final(id);
  EXPECT_EQ(Events().size(), 4u);
}

TEST_F(Programs, ABrokerThatAsksForCodeItWasJustGivenIsBroken) {
  Welcome();
  Submit(Run("a"));
  Need("a");
  EXPECT_EQ(core_.link(), LinkState::kFailed);
  EXPECT_NE(core_.failure().message.find("code of job 'a'"), std::string::npos) << core_.failure().message;
  EXPECT_EQ(Events().size(), 1u);
  EXPECT_TRUE(Carried().empty());
}

TEST_F(Programs, ANeedIsAnsweredTwiceAtTheMost) {
  Welcome();
  Submit(Run("first"));
  Submit(Run("a"));
  Need("a");
  Need("a");
  EXPECT_EQ(core_.link(), LinkState::kFailed);
}

TEST_F(Programs, ANeedForNoUnfinishedJobOrFromAnOldLinkIsNothing) {
  Need("a");
  Welcome();
  Need("a");
  Submit(Run("first"));
  Submit(Run("a"));
  core_.OnMessage(wire::Bye{}, {}, now_);
  Clear();
  Need("a");
  EXPECT_TRUE(Carried().empty());
  EXPECT_EQ(core_.link(), LinkState::kConnecting);
}

TEST_F(Programs, ACancelledJobThatIsNeededAgainEndsHere) {
  Welcome();
  Submit(Run("first"));
  Submit(Run("a"));
  core_.Cancel(JobId("a"));
  Carried();
  Need("a");
  EXPECT_EQ(OnlyEnd().error->code, Code::kCancelled);
  EXPECT_TRUE(Carried().empty());
}

TEST_F(Programs, EmptyCodeIsAProgramAsAnyOther) {
  Welcome();
  JobRequest request = Run("a");
  request.program = Program::Of("");
  Submit(std::move(request));
  EXPECT_EQ(Carried(), Submits{"a:"});
  Need("a");
  EXPECT_EQ(core_.link(), LinkState::kFailed) << "there is nothing more to give";
}

TEST_F(Programs, OnlyTheLastThousandsAreRememberedAsCarried) {
  Welcome();
  for (std::size_t i = 0; i <= kMostCarried; ++i) {
    JobRequest request = Run("j");
    request.program = Program::Of(std::to_string(i));
    Submit(std::move(request));
    Final("j");
    core_.Acknowledge(JobId("j"));
  }
  Carried();
  for (const char* code : {"1", "0"}) {
    JobRequest request = Run(code);
    request.program = Program::Of(code);
    Submit(std::move(request));
  }
  EXPECT_EQ(Carried(), (Submits{"1:", "0:0"}));
}

TEST_F(Programs, ABrokerThatKeepsNoneGetsEveryCodeAndNoFieldThatItWouldNotKnow) {
  core_.OnTick(now_);
  const auto offered = Sent<wire::Hello>().back().capabilities;
  EXPECT_NE(std::find(offered.begin(), offered.end(), "programs"), offered.end());
  capabilities_ = {"reproducible"};
  Welcome();
  Clear();
  Submit(Run("a"));
  JobRequest shares = Run("b");
  shares.spec.reuse = Reuse::kContext;
  Submit(std::move(shares));
  for (const auto& submit : Sent<wire::Submit>()) {
    EXPECT_FALSE(submit.job.program);
    EXPECT_EQ(submit.job.reuse, Reuse::kNone);
  }
  EXPECT_EQ(Carried(), (Submits{"a:code", "b:code"}));
}

TEST_F(Programs, ABrokerThatKnowsNoLibrariesOrEncodingsNeverGetsAJobThatAsksForThem) {
  capabilities_ = {"reproducible"};
  Welcome();
  JobRequest library = Request("a");
  library.spec.libraries = {"lodash"};
  Submit(std::move(library));
  EXPECT_EQ(OnlyEnd().error->code, Code::kValidation);
  JobRequest packed = Request("a");
  packed.spec.encoding = Encoding::kMsgpack;
  Submit(std::move(packed));
  const Outcome end = OnlyEnd();
  EXPECT_EQ(end.error->code, Code::kValidation);
  EXPECT_NE(end.error->message.find("upgrade it"), std::string::npos) << end.error->message;
  EXPECT_TRUE(Carried().empty());
}

TEST_F(Programs, TheNewFieldsOfAJobReachABrokerThatKnowsThem) {
  Welcome();
  JobRequest request = Request("a");
  request.spec.libraries = {"lodash", "ajv"};
  request.spec.encoding = Encoding::kMsgpack;
  request.spec.reuse = Reuse::kContext;
  Submit(std::move(request));
  ASSERT_EQ(Sent<wire::Submit>().size(), 1u);
  const JobSpec sent = Sent<wire::Submit>()[0].job;
  EXPECT_EQ(sent.libraries, (std::vector<std::string>{"lodash", "ajv"}));
  EXPECT_EQ(sent.encoding, Encoding::kMsgpack);
  EXPECT_EQ(sent.reuse, Reuse::kContext);
}

TEST_F(Programs, LibrariesPastTheirBoundsAreTheCallersMistake) {
  const auto taken = [&](std::vector<std::string> libraries) {
    JobRequest request = Request("j" + std::to_string(core_.unfinished()));
    request.spec.libraries = std::move(libraries);
    const auto result = core_.Submit(request, now_);
    EXPECT_TRUE(result || result.error().kind == ErrorKind::kInvalid);
    return result.has_value();
  };
  std::vector<std::string> many;
  for (std::size_t i = 0; i < kMaxLibraries; ++i) many.push_back("l" + std::to_string(i));
  EXPECT_TRUE(taken(many));
  many.push_back("one more");
  EXPECT_FALSE(taken(many));
  EXPECT_TRUE(taken({std::string(kMaxIdBytes, 'x')}));
  EXPECT_FALSE(taken({std::string(kMaxIdBytes + 1, 'x')}));
  EXPECT_FALSE(taken({""}));
  EXPECT_FALSE(taken({"a", "b", "a"}));
  EXPECT_FALSE(taken({"a\n"}));
}

class SmallPrograms : public Programs {
 protected:
  SmallPrograms() : Programs(Options()) {}
  static ClientOptions Options() {
    ClientOptions options;
    options.max_in_flight_bytes = Bytes(107);
    return options;
  }
  JobRequest Large(const std::string& id) const {
    JobRequest request = Run(id);
    request.program = large_;
    return request;
  }
  const std::shared_ptr<const Program> large_ = Program::Of(std::string(100, 'x'));
};

TEST_F(SmallPrograms, TheCodeOfManyJobsCountsOnceUntilTheLastOfThemEnds) {
  Welcome();
  for (const char* id : {"1", "2", "3", "4", "5", "6", "7"})
    EXPECT_EQ(Submit(Large(id)), SubmitResult::kTaken);
  EXPECT_EQ(Submit(Large("8")), SubmitResult::kFull);
  for (const char* id : {"1", "2", "3", "4", "5", "6"}) Final(id);
  EXPECT_EQ(Submit(Request("other", "0123456")), SubmitResult::kFull);
  EXPECT_EQ(Submit(Request("other", "01234")), SubmitResult::kTaken);
  Final("7");
  Final("other");
  Clear();
  EXPECT_EQ(Submit(Request("again", std::string(100, 'y'))), SubmitResult::kTaken);
  EXPECT_EQ(Submit(Request("more", "01234")), SubmitResult::kTaken) << "nothing of the program counts";
  EXPECT_EQ(large_.use_count(), 1);
}

}  // namespace
}  // namespace skerry::client
