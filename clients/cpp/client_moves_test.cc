// What a client says of a job that an earlier broker was sent and a later one ends.
#include "clients/cpp/testing/core_harness.h"

namespace skerry::client {
namespace {

/// The core is the later broker; `lost_` was the first.
class Moves : public Core {
 protected:
  Moves() : lost_(ClientOptions(), SessionId("s"), TimePoint(), ClientCore::Standing::kOneOfSeveral) {
    lost_.OnMessage(Linked(), {}, now_);
    Welcome();
  }
  static wire::Welcome Linked() {
    wire::Welcome welcome;
    welcome.credit = 10;
    welcome.capabilities = {"reproducible", "programs", "turns"};
    return welcome;
  }
  void SubmitToTheFirst(std::uint64_t deadline_ms, Retry retry = Retry::kSafe) {
    JobRequest request = Request("j");
    request.spec.deadline_ms = deadline_ms;
    request.spec.retry = retry;
    EXPECT_TRUE(lost_.Submit(request, now_));
  }
  void FirstSaysThatItRuns() {
    wire::Event event;
    event.id = JobId("j");
    lost_.OnMessage(event, {"hello"}, now_);
  }
  void MoveAfter(Millis time, ClientCore::Scope scope = ClientCore::Scope::kMayRunAgain) {
    now_ += time;
    auto jobs = lost_.Withdraw(scope);
    ASSERT_EQ(jobs.size(), 1u);
    core_.Adopt(std::move(jobs[0]), now_);
  }
  JobError OnlyError() {
    const auto events = Events();
    EXPECT_EQ(events.size(), 1u);
    const auto* final = events.empty() ? nullptr : std::get_if<JobFinal>(&events.back());
    EXPECT_TRUE(final != nullptr && final->outcome.error);
    return final != nullptr && final->outcome.error ? *final->outcome.error : JobError();
  }
  void EndsWith(Code code, const std::string& message, bool started) {
    wire::Final final;
    final.id = JobId("j");
    final.code = code;
    final.fault = Fault::kClient;
    final.started = started;
    core_.OnMessage(final, {wire::DetailPayload(MakeError(code, message))}, now_);
  }

  ClientCore lost_;
};

TEST_F(Moves, AJobThatHasBegunHasNoQueueDeadlineAnyMore) {
  SubmitToTheFirst(1'000);
  FirstSaysThatItRuns();
  MoveAfter(Millis(5'000));
  EXPECT_TRUE(Events().empty());
  const auto submits = Sent<wire::Submit>();
  ASSERT_EQ(submits.size(), 1u);
  EXPECT_EQ(submits[0].job.deadline_ms, 0u);
  Final("j", false, Code::kOverloaded, 250);
  Pass(Millis(5'000));
  EXPECT_EQ(Sent<wire::Submit>().size(), 2u);
  EXPECT_TRUE(Events().empty());
}

TEST_F(Moves, AHostCallSaysThatItHasBegunAsWell) {
  SubmitToTheFirst(1'000, Retry::kAlways);
  wire::Call call;
  call.id = JobId("j");
  call.call = 1;
  lost_.OnMessage(call, {"m", "1"}, now_);
  MoveAfter(Millis(5'000));
  EXPECT_TRUE(Events().empty());
  EXPECT_EQ(Sent<wire::Submit>().at(0).job.deadline_ms, 0u);
}

TEST_F(Moves, AJobThatWasSentAndIsTooLateWhenItWouldGoOnIsLostAndMayHaveRun) {
  SubmitToTheFirst(1'000);
  MoveAfter(Millis(1'000));
  const JobError error = OnlyError();
  EXPECT_EQ(error.code, Code::kLost);
  EXPECT_EQ(error.fault, Fault::kInfrastructure);
  EXPECT_TRUE(error.started);
  EXPECT_EQ(error.message,
            "its broker could not be reached, and its deadlineMs 1000 passed meanwhile; it may have run");
  EXPECT_TRUE(Sent<wire::Submit>().empty());
}

TEST_F(Moves, AJobThatWasSentGoesOnWithWhatIsLeftOfItsDeadline) {
  SubmitToTheFirst(1'000);
  MoveAfter(Millis(999));
  EXPECT_TRUE(Events().empty());
  EXPECT_EQ(Sent<wire::Submit>().at(0).job.deadline_ms, 1u);
}

TEST_F(Moves, AJobThatWasNeverSentAndIsTooLateHasExpiredAndHasNotBegun) {
  lost_.GiveLinkUp(now_);
  SubmitToTheFirst(1'000);
  MoveAfter(Millis(1'000), ClientCore::Scope::kNotSent);
  const JobError error = OnlyError();
  EXPECT_EQ(error.code, Code::kExpired);
  EXPECT_EQ(error.fault, Fault::kClient);
  EXPECT_FALSE(error.started);
}

TEST_F(Moves, ALaterBrokersWordThatItHasNotBegunIsOnlyItsOwn) {
  for (const Code code : {Code::kExpired, Code::kCancelled, Code::kValidation, Code::kRateLimited}) {
    SubmitToTheFirst(5'000);
    MoveAfter(Millis(1));
    EndsWith(code, "as it says", false);
    const JobError error = OnlyError();
    EXPECT_EQ(error.code, code);
    EXPECT_TRUE(error.started) << NameOf(code);
    EXPECT_EQ(error.message, "as it says; it may have run before, at a broker that was lost");
  }
}

TEST_F(Moves, ALaterBrokersErrorOfAJobThatRanThereIsLeftAsItIs) {
  SubmitToTheFirst(5'000);
  MoveAfter(Millis(1));
  EndsWith(Code::kRuntime, "boom", true);
  EXPECT_EQ(OnlyError().message, "boom");
}

TEST_F(Moves, OfAJobThatOnlyTheLaterBrokerWasSentItsWordCounts) {
  lost_.GiveLinkUp(now_);
  SubmitToTheFirst(5'000);
  MoveAfter(Millis(1), ClientCore::Scope::kNotSent);
  EndsWith(Code::kExpired, "too late", false);
  EXPECT_FALSE(OnlyError().started);
}

TEST_F(Moves, OfAJobThatTheFirstRefusedTheLaterOnesWordCounts) {
  SubmitToTheFirst(0);
  wire::Final refusal;
  refusal.id = JobId("j");
  refusal.code = Code::kOverloaded;
  refusal.retry_after_ms = 250;
  refusal.seq = 1;
  lost_.OnMessage(refusal, {""}, now_);
  ASSERT_EQ(lost_.Refused(), std::vector<JobId>{JobId("j")});
  core_.Adopt(lost_.TakeRefused(JobId("j"), now_), now_);
  EndsWith(Code::kExpired, "too late", false);
  EXPECT_FALSE(OnlyError().started);
}

TEST_F(Moves, AJobThatOneHasLostAndAnotherRefusesUntilItIsTooLateIsLost) {
  SubmitToTheFirst(1'000);
  MoveAfter(Millis(500));
  Final("j", false, Code::kOverloaded, 499);
  EXPECT_TRUE(Events().empty());
  Pass(Millis(499));
  Final("j", false, Code::kOverloaded, 1);
  const JobError error = OnlyError();
  EXPECT_EQ(error.code, Code::kLost);
  EXPECT_TRUE(error.started);
}

TEST_F(Moves, CancelledWhileItWaitsForTheLaterBrokerItMayHaveRunAtTheFirst) {
  SubmitToTheFirst(0);
  MoveAfter(Millis(1));
  Final("j", false, Code::kOverloaded, 1'000);
  core_.Cancel(JobId("j"));
  const JobError error = OnlyError();
  EXPECT_EQ(error.code, Code::kCancelled);
  EXPECT_TRUE(error.started);
}

TEST_F(Moves, AfterARestartOfItsBrokerAJobThatMayHaveRunIsNotSaidNotToHave) {
  SubmitToTheFirst(1'000);
  FirstSaysThatItRuns();
  lost_.GiveLinkUp(now_);
  lost_.TakeSends();
  lost_.OnMessage(Linked(), {}, now_);  // not resumed
  const auto sends = lost_.TakeSends();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(std::get<wire::Submit>(sends[0].header).job.deadline_ms, 0u) << "it had begun";
  lost_.TakeEvents();
  wire::Final final;
  final.id = JobId("j");
  final.code = Code::kCancelled;
  lost_.OnMessage(final, {""}, now_);
  const auto events = lost_.TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(std::get<JobFinal>(events[0]).outcome.error->started);
}

TEST_F(Moves, CancelledAtHomeAgainItIsTheJobThatItsBrokerKnowsAndItsWordCounts) {
  SubmitToTheFirst(1'000);
  now_ += Millis(400);
  auto job = std::move(lost_.Withdraw(ClientCore::Scope::kMayRunAgain).at(0));
  lost_.GiveLinkUp(now_);
  job.spec.deadline_ms = 600;  // as another broker had it meanwhile
  lost_.TakeBackCancelled(std::move(job));
  wire::Welcome welcome = Linked();
  welcome.resumed = true;
  lost_.TakeSends();
  lost_.OnMessage(welcome, {}, now_);
  const auto sends = lost_.TakeSends();
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(std::get<wire::Submit>(sends[0].header).job.deadline_ms, 1'000u);
  wire::Final final;
  final.id = JobId("j");
  final.code = Code::kCancelled;
  lost_.OnMessage(final, {""}, now_);
  const auto events = lost_.TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_FALSE(std::get<JobFinal>(events[0]).outcome.error->started);
}

TEST_F(Moves, ARefusalWhoseAcknowledgementWasLostIsHeardAgain) {
  SubmitToTheFirst(0);
  wire::Final refusal;
  refusal.id = JobId("j");
  refusal.code = Code::kOverloaded;
  refusal.retry_after_ms = 250;
  refusal.seq = 1;
  lost_.OnMessage(refusal, {""}, now_);
  now_ += Millis(250);
  lost_.OnTick(now_);
  lost_.GiveLinkUp(now_);  // with the ACK, and the job that had come again
  lost_.TakeSends();
  wire::Welcome welcome = Linked();
  welcome.resumed = true;
  lost_.OnMessage(welcome, {}, now_);
  lost_.TakeSends();
  lost_.OnMessage(refusal, {""}, now_);  // it keeps the final, and takes the SUBMIT for the same job
  const auto acks = lost_.TakeSends();
  ASSERT_EQ(acks.size(), 1u);
  EXPECT_EQ(std::get<wire::Ack>(acks[0].header).ids, std::vector<std::string>{"j"});
  now_ += Millis(250);
  lost_.OnTick(now_);
  EXPECT_EQ(lost_.TakeSends().size(), 1u) << "a SUBMIT";
}

/// The link breaks before the client has heard of its job, which it submits again: the refusal that comes
/// then may be of the first SUBMIT, and the second be taken.
class RefusedOnANewLink : public Moves {
 protected:
  void RefuseBehindWelcome(Retry retry) {
    SubmitToTheFirst(0, retry);
    lost_.GiveLinkUp(now_);
    lost_.TakeSends();
    wire::Welcome welcome = Linked();
    welcome.resumed = true;
    lost_.OnMessage(welcome, {}, now_);
    lost_.TakeSends();
    wire::Final refusal;
    refusal.id = JobId("j");
    refusal.code = Code::kOverloaded;
    refusal.retry_after_ms = 250;
    refusal.seq = 1;
    lost_.OnMessage(refusal, {""}, now_);
    lost_.TakeSends();
  }
};

TEST_F(RefusedOnANewLink, AJobThatMayRunOnceOnlyStays) {
  RefuseBehindWelcome(Retry::kNever);
  EXPECT_TRUE(lost_.Refused().empty());
  EXPECT_TRUE(lost_.Withdraw(ClientCore::Scope::kNotSent).empty());
  // It had been taken, and has run.
  wire::Final final;
  final.id = JobId("j");
  final.ok = true;
  final.seq = 2;
  lost_.OnMessage(final, {"7"}, now_);
  const auto events = lost_.TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(std::get<JobFinal>(events[0]).outcome.value, "7");
}

TEST_F(RefusedOnANewLink, AJobThatMayRunAgainGoesElsewhereAndIsCancelledThere) {
  RefuseBehindWelcome(Retry::kSafe);
  ASSERT_EQ(lost_.Refused().size(), 1u);
  const ClientCore::Job job = lost_.TakeRefused(JobId("j"), now_);
  EXPECT_EQ(job.sent_before, 1u) << "it may have run";
  const auto sends = lost_.TakeSends();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<wire::Cancel>(sends[0].header));
  EXPECT_TRUE(lost_.Remembers(JobId("j"), now_));
}

}  // namespace
}  // namespace skerry::client
