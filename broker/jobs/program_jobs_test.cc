// Jobs that name their program by its hash: where its code is kept, left out, and asked for.
#include "broker/testing/core_harness.h"
#include "common/hash.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

constexpr const char* kCode = "return input";

class ProgramJobs : public ::testing::Test {
 protected:
  explicit ProgramJobs(const BrokerConfig& config = {}) : broker_(config) { Greet("c", "s"); }
  void Greet(const std::string& link, const std::string& session,
             const std::vector<std::string>& capabilities = {"programs"}) {
    wire::Hello hello;
    hello.session = SessionId(session);
    hello.capabilities = capabilities;
    broker_.Say(ClientPeer(link), hello);
  }
  void ConnectWorker(const std::string& link, std::uint64_t slots = 4) {
    broker_.ConnectWorker(link, slots, 4096, {}, {}, {"reproducible", "programs"});
  }
  static JobSpec Program(const std::string& id, const std::string& code = kCode) {
    JobSpec spec = CoreHarness::Spec(id);
    spec.program = true;
    spec.code_hash = Sha256(code);
    return spec;
  }
  void SubmitWhole(const std::string& id, const std::string& code = kCode) {
    broker_.Submit("c", Program(id, code), code);
  }
  void SubmitHash(const std::string& id, const std::string& code = kCode) {
    broker_.Submit("c", Program(id, code), "");
  }
  void SayNeed(const std::string& worker, LeaseId lease, const std::vector<std::string>& payloads = {}) {
    broker_.Say(WorkerPeer(worker), wire::Need{JobId(), lease}, payloads);
  }
  std::vector<std::string> CodesTo(const std::string& worker) const {
    std::vector<std::string> codes;
    for (const Send& send : broker_.sends) {
      if (send.peer == WorkerPeer(worker) && std::holds_alternative<wire::Dispatch>(send.header))
        codes.emplace_back(send.payloads.at(0).bytes());
    }
    return codes;
  }
  const BrokerCounters& counters() const { return broker_.core.counters(); }

  CoreHarness broker_;
};

TEST_F(ProgramJobs, TheBrokerSaysThatItKnowsThemToThoseWhoDo) {
  Greet("new", "s2", {"wasm", "programs"});
  EXPECT_EQ(broker_.ToClient<wire::Welcome>("new").back().capabilities, std::vector<std::string>{"programs"});
}

TEST_F(ProgramJobs, TheSecondComesWithoutItsCodeAndGoesToTheSameWorkerWithoutIt) {
  ConnectWorker("w");
  SubmitWhole("a");
  SubmitHash("b");
  EXPECT_EQ(CodesTo("w"), (std::vector<std::string>{kCode, ""}));
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").back().job.code_hash, Sha256(kCode));
  EXPECT_TRUE(broker_.ToWorker<wire::Dispatch>("w").back().job.program);
  EXPECT_EQ(broker_.PayloadOfLast(WorkerPeer("w")), "1") << "the input goes along";
}

TEST_F(ProgramJobs, AnotherWorkerGetsTheCodeOnce) {
  ConnectWorker("w1", 1);
  SubmitWhole("a");
  ConnectWorker("w2", 2);
  SubmitHash("b");
  SubmitHash("c");
  EXPECT_EQ(CodesTo("w1"), std::vector<std::string>{kCode});
  EXPECT_EQ(CodesTo("w2"), (std::vector<std::string>{kCode, ""}));
}

TEST_F(ProgramJobs, CodeThatIsNotThereIsAskedForAndNothingIsTaken) {
  ConnectWorker("w");
  SubmitHash("a");
  ASSERT_EQ(broker_.ToClient<wire::Need>("c").size(), 1u);
  EXPECT_EQ(broker_.ToClient<wire::Need>("c")[0].id, JobId("a"));
  EXPECT_TRUE(broker_.ToClient<wire::Accepted>("c").empty());
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
  EXPECT_EQ(counters().submitted, 0u);
  SubmitWhole("a");
  EXPECT_EQ(counters().submitted, 1u);
  EXPECT_EQ(counters().resubmitted, 0u) << "no record was left";
  broker_.FinishOk(WorkerPeer("w"), broker_.LastLease("w"));
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
}

TEST_F(ProgramJobs, WhatIsWrongWithAJobIsSaidBeforeItsCodeIsAskedFor) {
  ConnectWorker("w");
  JobSpec spec = Program("a");
  spec.priority = 101;
  broker_.Submit("c", spec, "");
  EXPECT_TRUE(broker_.ToClient<wire::Need>("c").empty());
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kValidation);
}

TEST_F(ProgramJobs, CodeUnderAnotherHashIsTheJobsValidation) {
  ConnectWorker("w");
  broker_.Submit("c", Program("a"), "return 2");
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kValidation);
  EXPECT_EQ(broker_.MessageOfLast("c"), "codeHash is not the SHA-256 of the code");
  SubmitHash("b");
  EXPECT_EQ(broker_.ToClient<wire::Need>("c").size(), 1u) << "and nobody gets it under that name";
}

TEST_F(ProgramJobs, AHashThatIsMissingOrNoneIsTheJobsValidation) {
  JobSpec spec = Program("a");
  spec.code_hash.clear();
  broker_.Submit("c", spec, kCode);
  EXPECT_EQ(broker_.MessageOfLast("c"), "program must come with the codeHash of its code");
  spec.code_hash = "short";
  broker_.Submit("c", spec, kCode);
  EXPECT_EQ(broker_.MessageOfLast("c"), "codeHash must be 32 bytes, got 5");
}

TEST_F(ProgramJobs, CodeThatIsEmptyInEarnestRuns) {
  ConnectWorker("w");
  SubmitWhole("a", "");
  SubmitWhole("b", "");
  EXPECT_EQ(CodesTo("w"), (std::vector<std::string>{"", ""}));
  EXPECT_TRUE(broker_.ToClient<wire::Need>("c").empty());
  SayNeed("w", broker_.LastLease("w"));
  EXPECT_EQ(counters().workers_cut_off, 1u) << "it had all there is";
}

TEST_F(ProgramJobs, AreTheSameJobWhetherTheirCodeCameAlongOrNot) {
  ConnectWorker("w", 1);
  SubmitWhole("a");
  SubmitHash("a");
  SubmitWhole("a");
  EXPECT_EQ(counters().resubmitted, 2u);
  broker_.Submit("c", Program("a"), "", "2");
  EXPECT_EQ(counters().rejected[static_cast<std::size_t>(Rejection::kDuplicateId)], 1u) << "another input";
  SubmitWhole("a", "return 2");
  EXPECT_EQ(counters().rejected[static_cast<std::size_t>(Rejection::kDuplicateId)], 2u) << "another program";
}

TEST_F(ProgramJobs, CodeThatIsFoundMustFitTheJobsOwnLimit) {
  ConnectWorker("w");
  SubmitWhole("a");
  JobSpec spec = Program("b");
  spec.limits = {{"maxCodeBytes", std::string(kCode).size()}};
  broker_.Submit("c", spec, "");
  EXPECT_EQ(CodesTo("w").size(), 2u);
  spec.id = JobId("c");
  spec.limits = {{"maxCodeBytes", std::string(kCode).size() - 1}};
  broker_.Submit("c", spec, "");
  EXPECT_EQ(broker_.OnlyFinal("c").limit, "maxCodeBytes");
}

TEST_F(ProgramJobs, OneTenantIsNotToldWhatAnotherRuns) {
  ConnectWorker("w");
  SubmitWhole("a");
  JobSpec spec = Program("b");
  spec.tenant = TenantId("another");
  broker_.Submit("c", spec, "");
  EXPECT_EQ(broker_.ToClient<wire::Need>("c").size(), 1u);
}

TEST_F(ProgramJobs, AClientThatDoesNotKnowTheQuestionIsNotAsked) {
  Greet("old", "s2", {"reproducible"});
  ConnectWorker("w");
  broker_.Submit("old", Program("a"), "");
  EXPECT_TRUE(broker_.ToClient<wire::Need>("old").empty());
  EXPECT_EQ(broker_.OnlyFinal("old").code, Code::kValidation);
}

TEST_F(ProgramJobs, AClientThatIsAwayIsNotAsked) {
  broker_.core.OnMalformed(ClientPeer("c"), "puts it away", broker_.now);
  broker_.Pass(Millis(1));
  broker_.Clear();
  SubmitHash("a");
  EXPECT_TRUE(broker_.ToClient<wire::Need>("c").empty());
}

TEST_F(ProgramJobs, AWorkerThatDoesNotKnowThemGetsAllTheCodeAndNoneOfTheWords) {
  broker_.ConnectWorker("old", 4);
  JobSpec spec = Program("a");
  spec.reuse = Reuse::kContext;
  broker_.Submit("c", spec, kCode);
  spec.id = JobId("b");
  broker_.Submit("c", spec, "");
  EXPECT_EQ(CodesTo("old"), (std::vector<std::string>{kCode, kCode}));
  const auto dispatch = broker_.ToWorker<wire::Dispatch>("old").back();
  EXPECT_FALSE(dispatch.job.program);
  EXPECT_EQ(dispatch.job.reuse, Reuse::kNone);
  EXPECT_EQ(dispatch.job.code_hash, Sha256(kCode));
}

TEST_F(ProgramJobs, AWorkerThatHasForgottenIsSentTheSameAgainWithItsCode) {
  ConnectWorker("w");
  SubmitWhole("a");
  SubmitHash("b");
  const auto left_out = broker_.ToWorker<wire::Dispatch>("w").back();
  SayNeed("w", left_out.lease);
  EXPECT_EQ(CodesTo("w"), (std::vector<std::string>{kCode, "", kCode}));
  const auto again = broker_.ToWorker<wire::Dispatch>("w").back();
  EXPECT_EQ(wire::Encode(again), wire::Encode(left_out));
  broker_.FinishOk(WorkerPeer("w"), again.lease);
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
  EXPECT_EQ(counters().dispatched, 2u) << "it is one dispatch";
}

TEST_F(ProgramJobs, AQuestionForCodeThatWasSentIsALie) {
  ConnectWorker("w");
  SubmitWhole("a");
  SayNeed("w", broker_.LastLease("w"));
  EXPECT_EQ(counters().workers_cut_off, 1u);
}

TEST_F(ProgramJobs, ASecondQuestionIsALie) {
  ConnectWorker("w");
  SubmitWhole("a");
  SubmitHash("b");
  SayNeed("w", broker_.LastLease("w"));
  SayNeed("w", broker_.LastLease("w"));
  EXPECT_EQ(counters().workers_cut_off, 1u);
}

TEST_F(ProgramJobs, AQuestionForCodeThatRunsIsALie) {
  ConnectWorker("w");
  SubmitWhole("a");
  SubmitHash("b");
  wire::Event event;
  event.lease = broker_.LastLease("w");
  broker_.Say(WorkerPeer("w"), event, {"text"});
  SayNeed("w", event.lease);
  EXPECT_EQ(counters().workers_cut_off, 1u);
}

TEST_F(ProgramJobs, AQuestionWithAPayloadOrAboutAnotherLeaseIsALie) {
  ConnectWorker("w");
  SubmitWhole("a");
  SubmitHash("b");
  SayNeed("w", broker_.LastLease("w"), {"x"});
  EXPECT_EQ(counters().workers_cut_off, 1u);
  ConnectWorker("w2");
  SayNeed("w2", LeaseId(999));
  EXPECT_EQ(counters().workers_cut_off, 2u);
}

TEST_F(ProgramJobs, AQuestionThatCrossesACancelEndsTheJobUnstarted) {
  ConnectWorker("w");
  SubmitWhole("a");
  SubmitHash("b");
  broker_.Say(ClientPeer("c"), wire::Cancel{JobId("b"), LeaseId()});
  SayNeed("w", broker_.LastLease("w"));
  const wire::Final final = broker_.OnlyFinal("c");
  EXPECT_EQ(final.code, Code::kCancelled);
  EXPECT_FALSE(final.started);
  EXPECT_EQ(CodesTo("w").size(), 2u) << "it is not sent again";
  EXPECT_EQ(broker_.core.running(), 1u);
}

TEST_F(ProgramJobs, AWorkerThatComesBackIsNotSentWhatItHasAndOneThatIsNewIs) {
  broker_.ConnectWorker("w", 4, 4096, "session", {}, {"reproducible", "programs"});
  SubmitWhole("a");
  const LeaseId held = broker_.LastLease("w");
  broker_.ConnectWorker("w again", 4, 4096, "session", {held}, {"reproducible", "programs"});
  SubmitHash("b");
  EXPECT_EQ(CodesTo("w again"), std::vector<std::string>{""});
  broker_.Say(WorkerPeer("w again"), wire::Bye{});
  broker_.ConnectWorker("new", 4, 4096, "another", {}, {"reproducible", "programs"});
  EXPECT_EQ(CodesTo("new"), (std::vector<std::string>{kCode, ""})) << "its two jobs";
}

TEST_F(ProgramJobs, AJobWhoseQuestionWasLostWithItsLinkWaitsAgain) {
  broker_.ConnectWorker("w", 4, 4096, "session", {}, {"reproducible", "programs"});
  SubmitWhole("a");
  const LeaseId held = broker_.LastLease("w");
  SubmitHash("b");
  const LeaseId asked = broker_.LastLease("w");
  broker_.ConnectWorker("again", 4, 4096, "session", {held}, {"reproducible", "programs"});
  EXPECT_EQ(CodesTo("again"), std::vector<std::string>{""});
  EXPECT_NE(broker_.LastLease("again"), asked);
  SayNeed("again", asked);
  EXPECT_EQ(counters().workers_cut_off, 0u) << "it is late, and no lie";
  SayNeed("again", broker_.LastLease("again"));
  EXPECT_EQ(CodesTo("again"), (std::vector<std::string>{"", kCode}));
}

TEST_F(ProgramJobs, AWorkerIsTakenToHaveSoManyProgramsAndNoMore) {
  ConnectWorker("w", 4);
  const auto run = [&](std::size_t program) {
    broker_.Clear();
    SubmitWhole("job " + std::to_string(counters().submitted), "return " + std::to_string(program));
    broker_.FinishOk(WorkerPeer("w"), broker_.LastLease("w"));
    broker_.Say(ClientPeer("c"), wire::Ack{{"job " + std::to_string(counters().submitted - 1)}});
    return CodesTo("w").back().empty() ? "left out" : "sent";
  };
  for (std::size_t i = 0; i < Worker::kMaxSentCode; ++i) EXPECT_STREQ(run(i), "sent") << i;
  EXPECT_STREQ(run(0), "left out");
  EXPECT_STREQ(run(Worker::kMaxSentCode), "sent");  // and the second is forgotten for it
  EXPECT_STREQ(run(0), "left out");
  EXPECT_STREQ(run(1), "sent");
}

TEST_F(ProgramJobs, WaitingOnesCountTheirCodeOnce) {
  const std::string code(10'000, ' ');
  SubmitWhole("a", code);
  const std::uint64_t first = broker_.core.queued_bytes();
  SubmitHash("b", code);
  SubmitWhole("c", code);
  EXPECT_EQ(broker_.core.queued_bytes(), first + 2 * (DispatchQueue::kBytesPerJob + 1));
  ConnectWorker("w", 8);
  EXPECT_EQ(broker_.core.queued_bytes(), 0u);
  EXPECT_EQ(CodesTo("w"), (std::vector<std::string>{code, "", ""}));
}

class FewProgramJobs : public ProgramJobs {
 protected:
  FewProgramJobs() : ProgramJobs(Small()) {}
  static BrokerConfig Small() {
    BrokerConfig config;
    config.max_program_bytes = Bytes::MiB(1);
    config.max_queued = 2;
    return config;
  }
};

TEST_F(FewProgramJobs, CodeThatHadToMakeRoomIsAskedForAgain) {
  ConnectWorker("w");
  const std::string a(400'000, 'a'), b(400'000, 'b'), c(400'000, 'c');
  SubmitWhole("1", a);
  SubmitWhole("2", b);
  EXPECT_EQ(counters().program_evictions, 0u);
  SubmitWhole("3", c);
  EXPECT_EQ(counters().program_evictions, 1u);
  SubmitHash("4", a);
  EXPECT_EQ(broker_.ToClient<wire::Need>("c").size(), 1u);
  SubmitWhole("4", a);
  EXPECT_EQ(CodesTo("w").back(), "") << "the worker has it still, or will say so";
}

TEST_F(FewProgramJobs, CodeOfAJobThatFindsNoRoomIsKeptForWhenItComesAgain) {
  SubmitWhole("1");
  SubmitWhole("2");
  SubmitWhole("3", "return 3");
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kOverloaded);
  SubmitHash("3", "return 3");
  EXPECT_TRUE(broker_.ToClient<wire::Need>("c").empty());
}

}  // namespace
}  // namespace skerry::broker
