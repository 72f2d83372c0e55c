// The life of jobs, told through the core: submitted, queued, dispatched, cancelled, ended.
#include "broker/jobs/job_ledger.h"

#include "broker/testing/core_harness.h"
#include "common/wire/negotiate.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

/// A client "c" and a worker "w" with some slots.
class Ledger : public ::testing::Test {
 protected:
  void Connect(std::uint64_t slots, std::uint64_t memory_mb = 4096) {
    broker_.ConnectClient("c", "s");
    if (slots > 0) broker_.ConnectWorker("w", slots, memory_mb);
  }
  CoreHarness broker_;
};

TEST_F(Ledger, AClientThatHasNoUseForAcceptedGetsNone) {
  wire::Hello hello;
  hello.session = SessionId("s");
  hello.capabilities = {std::string(wire::kQuietCapability)};
  broker_.Say(ClientPeer("c"), hello);
  broker_.Submit("c", CoreHarness::Spec("a"));
  broker_.Submit("c", CoreHarness::Spec("a"));  // again, as after a WELCOME
  EXPECT_TRUE(broker_.ToClient<wire::Accepted>("c").empty());
  EXPECT_EQ(broker_.core.counters().accepted, 1u);
}

TEST_F(Ledger, AJobIsAcceptedDispatchedWithAllLimitsAndItsFinalComesBackUnderItsId) {
  Connect(1);
  JobSpec spec = CoreHarness::Spec("a");
  spec.limits = {{"timeoutMs", 77}};
  spec.mode = Mode::kModule;
  broker_.Submit("c", spec, "the code", "[1]");
  ASSERT_EQ(broker_.ToClient<wire::Accepted>("c").size(), 1u);
  const auto dispatches = broker_.ToWorker<wire::Dispatch>("w");
  ASSERT_EQ(dispatches.size(), 1u);
  EXPECT_EQ(dispatches[0].job.limits.size(), kLimitCount - 1);
  EXPECT_EQ(dispatches[0].job.memory_mb, 256u);
  EXPECT_EQ(dispatches[0].job.mode, Mode::kModule);
  EXPECT_EQ(dispatches[0].session.str(), "s");
  EXPECT_EQ(broker_.PayloadOfLast(WorkerPeer("w")), "[1]");

  broker_.FinishOk(WorkerPeer("w"), dispatches[0].lease, "42");
  const wire::Final final = broker_.OnlyFinal("c");
  EXPECT_TRUE(final.ok);
  EXPECT_EQ(final.id.str(), "a");
  EXPECT_EQ(final.lease, LeaseId());
  EXPECT_EQ(broker_.PayloadOfLast(ClientPeer("c")), "42");
}

TEST_F(Ledger, PayloadFramesAreForwardedWithoutACopy) {
  Connect(1);
  const Payload code(std::string(1000, 'x'));
  const Payload input(std::string(1000, 'y'));
  broker_.core.OnMessage(ClientPeer("c"), wire::Submit{CoreHarness::Spec("a")}, {code, input}, broker_.now);
  for (const Send& send : broker_.core.TakeSends()) {
    if (!std::holds_alternative<wire::Dispatch>(send.header)) continue;
    EXPECT_EQ(send.payloads.at(0).bytes().data(), code.bytes().data());
    EXPECT_EQ(send.payloads.at(1).bytes().data(), input.bytes().data());
    return;
  }
  FAIL() << "not dispatched";
}

TEST_F(Ledger, OversizedCodeIsValidationWithoutAnyDispatch) {
  Connect(1);
  broker_.Submit("c", CoreHarness::Spec("a"), std::string(524'289, 'x'));
  const wire::Final final = broker_.OnlyFinal("c");
  EXPECT_EQ(final.code, Code::kValidation);
  EXPECT_EQ(final.limit, "maxCodeBytes");
  EXPECT_FALSE(final.started);
  EXPECT_TRUE(broker_.ToWorker<wire::Dispatch>("w").empty());
  EXPECT_TRUE(broker_.ToClient<wire::Accepted>("c").empty());
}

TEST_F(Ledger, JobsQueueWhileNoWorkerIsConnectedAndQueueTimeIsReported) {
  Connect(0);
  broker_.Submit("c", "a");
  EXPECT_EQ(broker_.core.queued(), 1u);
  broker_.Pass(Millis(1'500), {ClientPeer("c")});
  broker_.ConnectWorker("w", 1);
  broker_.FinishOk(WorkerPeer("w"), broker_.LastLease("w"));
  EXPECT_DOUBLE_EQ(broker_.OnlyFinal("c").usage.queue_ms, 1'500.0);
}

TEST_F(Ledger, NeverMoreJobsThanSlotsAndAFinalMakesRoomForTheNextInOrder) {
  Connect(2);
  for (const char* id : {"a", "b", "x", "y"}) broker_.Submit("c", id);
  auto dispatches = broker_.ToWorker<wire::Dispatch>("w");
  ASSERT_EQ(dispatches.size(), 2u);
  broker_.FinishOk(WorkerPeer("w"), dispatches[1].lease);
  dispatches = broker_.ToWorker<wire::Dispatch>("w");
  ASSERT_EQ(dispatches.size(), 3u);
  EXPECT_EQ(dispatches[2].job.id.str(), "x");
}

TEST_F(Ledger, NeverMoreMemoryThanTheWorkerHas) {
  Connect(10, 512);
  for (const char* id : {"a", "b", "x"}) broker_.Submit("c", id);  // 256 MiB each
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 2u);
  broker_.FinishOk(WorkerPeer("w"), broker_.LastLease("w"));
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 3u);
}

TEST_F(Ledger, TheLeastLoadedWorkerGetsTheJob) {
  broker_.ConnectClient("c", "s");
  broker_.ConnectWorker("small", 2);
  broker_.ConnectWorker("large", 8);
  for (int i = 0; i < 5; ++i) broker_.Submit("c", "j" + std::to_string(i));
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("small").size(), 1u);
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("large").size(), 4u);
}

TEST_F(Ledger, AJobThatNoConnectedWorkerCouldEverTakeIsOverloadedWithoutRetryAfter) {
  Connect(1, 128);
  broker_.Submit("c", "a");
  const wire::Final final = broker_.OnlyFinal("c");
  EXPECT_EQ(final.code, Code::kOverloaded);
  EXPECT_EQ(final.fault, Fault::kInfrastructure);
  EXPECT_EQ(final.retry_after_ms, 0u);
  EXPECT_NE(broker_.MessageOfLast("c").find("no worker has 256 MiB for a job; the largest has "),
            std::string::npos);
}

TEST_F(Ledger, AQueuedJobThatTheFirstWorkerCouldNeverTakeIsOverloadedThen) {
  Connect(0);
  broker_.Submit("c", "a");
  broker_.ConnectWorker("w", 1, 128);
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kOverloaded);
  EXPECT_EQ(broker_.core.queued(), 0u);
}

TEST_F(Ledger, AWorkerThatOnlyLoweredItsCreditKeepsJobsWaiting) {
  Connect(1, 512);
  broker_.Say(WorkerPeer("w"), wire::Credit{1, 100});
  broker_.Submit("c", "a");
  EXPECT_EQ(broker_.core.queued(), 1u);
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
  broker_.Say(WorkerPeer("w"), wire::Credit{1, 512});
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u);
}

TEST_F(Ledger, FailFastSaysWhetherThereIsNoWorkerNoneThatTakesJobsOrNoneThatHasRoom) {
  broker_.ConnectClient("c", "s");
  int next = 0;
  const auto refused = [&] {
    JobSpec spec = CoreHarness::Spec("j" + std::to_string(++next));
    spec.admission = Admission::kFailFast;
    broker_.Clear();
    broker_.Submit("c", spec);
    const auto finals = broker_.ToClient<wire::Final>("c");
    return finals.empty() ? std::string("taken") : broker_.MessageOfLast("c");
  };
  EXPECT_NE(refused().find("no worker is connected"), std::string::npos);
  broker_.ConnectWorker("w", 1);
  EXPECT_EQ(refused(), "taken");
  EXPECT_NE(refused().find("no worker has a free slot and 256 MiB now"), std::string::npos);
  broker_.core.SetDrain(SessionId("session of w"), OperatorDrain::kOn, broker_.now);
  EXPECT_NE(refused().find("no worker takes jobs now: each is drained, or leaves"), std::string::npos);
}

TEST_F(Ledger, FailFastIsOverloadedWhereItWouldHaveToWaitAndRunsWhereItWouldNot) {
  Connect(1);
  JobSpec spec = CoreHarness::Spec("a");
  spec.admission = Admission::kFailFast;
  broker_.Submit("c", spec);
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u);
  spec.id = JobId("b");
  broker_.Submit("c", spec);
  const wire::Final final = broker_.OnlyFinal("c");
  EXPECT_EQ(final.code, Code::kOverloaded);
  EXPECT_GT(final.retry_after_ms, 0u);
}

TEST_F(Ledger, AFullQueueIsOverloadedWithRetryAfter) {
  BrokerConfig config;
  config.max_queued = 2;
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  for (const char* id : {"a", "b", "x"}) broker.Submit("c", id);
  const wire::Final final = broker.OnlyFinal("c");
  EXPECT_EQ(final.id.str(), "x");
  EXPECT_EQ(final.code, Code::kOverloaded);
  EXPECT_EQ(final.retry_after_ms, 250u);
}

TEST_F(Ledger, WhereSeveralTenantsSubmitNoneMayFillTheQueue) {
  BrokerConfig config;
  config.max_queued = 18;
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  auto submit = [&, next = 0](const std::string& tenant) mutable {
    JobSpec spec = CoreHarness::Spec(std::to_string(next++));
    spec.tenant = TenantId(tenant);
    broker.Submit("c", spec);
  };
  for (int i = 0; i < 17; ++i) submit("greedy");
  EXPECT_EQ(broker.core.queued(), 17u) << "alone it may";
  submit("polite");
  EXPECT_EQ(broker.core.queued(), 18u);
  broker.now += TenantCompany::kLately;
  broker.ConnectWorker("w", 4);
  ASSERT_EQ(broker.core.queued(), 14u);
  for (int i = 0; i < 2; ++i) submit("greedy");
  EXPECT_EQ(broker.core.queued(), 16u) << "nobody else has come lately";
  submit("polite");
  broker.Clear();
  submit("greedy");
  EXPECT_EQ(broker.core.queued(), 17u) << "now somebody has";
  EXPECT_EQ(broker.OnlyFinal("c").code, Code::kOverloaded);
  EXPECT_NE(broker.MessageOfLast("c").find("'greedy' has 1"), std::string::npos) << broker.MessageOfLast("c");
}

TEST_F(Ledger, AQueueFullOfBytesIsOverloaded) {
  BrokerConfig config;
  config.max_queued_bytes = Bytes::MiB(1);
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  broker.Submit("c", CoreHarness::Spec("a"), "x", std::string(1'000'000, '1'));
  broker.Submit("c", CoreHarness::Spec("b"), "x", std::string(100'000, '1'));
  EXPECT_EQ(broker.OnlyFinal("c").code, Code::kOverloaded);
  EXPECT_EQ(broker.core.queued(), 1u);
}

TEST_F(Ledger, ASubmitPastTwiceTheCreditIsOverloaded) {
  BrokerConfig config;
  config.client_credit = 2;
  CoreHarness broker(config);
  broker.ConnectClient("c", "s");
  for (int i = 0; i < 4; ++i) broker.Submit("c", "j" + std::to_string(i));
  EXPECT_TRUE(broker.ToClient<wire::Final>("c").empty());
  broker.Submit("c", "j4");
  EXPECT_EQ(broker.OnlyFinal("c").code, Code::kOverloaded);
}

TEST_F(Ledger, AQueueDeadlineThatPassesIsExpiredOnTimeAndNeverStarted) {
  Connect(0);
  JobSpec spec = CoreHarness::Spec("a");
  spec.deadline_ms = 700;
  broker_.Submit("c", spec);
  broker_.Pass(Millis(699), {ClientPeer("c")});
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
  broker_.Pass(Millis(1), {ClientPeer("c")});
  const wire::Final final = broker_.OnlyFinal("c");
  EXPECT_EQ(final.code, Code::kExpired);
  EXPECT_FALSE(final.started);
  EXPECT_DOUBLE_EQ(final.usage.queue_ms, 700.0);
}

TEST_F(Ledger, ADeadlineThatPassedAtAWorkerWhichTurnsTheJobDownIsNotTriedAnew) {
  Connect(1);
  JobSpec spec = CoreHarness::Spec("a");
  spec.deadline_ms = 700;
  broker_.Submit("c", spec);
  wire::Final turned_down;
  turned_down.lease = broker_.ToWorker<wire::Dispatch>("w").at(0).lease;
  turned_down.code = Code::kOverloaded;
  turned_down.fault = Fault::kInfrastructure;
  broker_.Pass(Millis(700), {ClientPeer("c"), WorkerPeer("w")});
  broker_.Say(WorkerPeer("w"), turned_down, {""});
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kExpired);
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u);
}

TEST_F(Ledger, ADeadlineIsForStartingNotForEnding) {
  Connect(1);
  JobSpec spec = CoreHarness::Spec("a");
  spec.deadline_ms = 100;
  broker_.Submit("c", spec);
  broker_.Pass(Millis(500), {ClientPeer("c"), WorkerPeer("w")});
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
}

TEST_F(Ledger, CancellingAQueuedJobEndsItUnstartedAndItsPlaceIsFree) {
  Connect(0);
  broker_.Submit("c", "a");
  broker_.Say(ClientPeer("c"), wire::Cancel{JobId("a"), LeaseId()});
  const wire::Final final = broker_.OnlyFinal("c");
  EXPECT_EQ(final.code, Code::kCancelled);
  EXPECT_FALSE(final.started);
  EXPECT_EQ(broker_.core.queued(), 0u);
}

TEST_F(Ledger, CancellingARunningJobAsksItsWorkerOnceAndRelaysWhatItSays) {
  Connect(1);
  broker_.Submit("c", "a");
  const LeaseId lease = broker_.LastLease("w");
  broker_.Say(ClientPeer("c"), wire::Cancel{JobId("a"), LeaseId()});
  broker_.Say(ClientPeer("c"), wire::Cancel{JobId("a"), LeaseId()});
  const auto cancels = broker_.ToWorker<wire::Cancel>("w");
  ASSERT_EQ(cancels.size(), 1u);
  EXPECT_EQ(cancels[0].lease, lease);
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
  wire::Final final;
  final.lease = lease;
  final.code = Code::kCancelled;
  final.fault = Fault::kClient;
  final.started = true;
  broker_.Say(WorkerPeer("w"), final, {""});
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kCancelled);
}

TEST_F(Ledger, TheSameJobSubmittedAgainIsNotRunAgain) {
  Connect(1);
  broker_.Submit("c", "a");
  broker_.Submit("c", "a");
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u);
  EXPECT_EQ(broker_.ToClient<wire::Accepted>("c").size(), 2u);
  broker_.FinishOk(WorkerPeer("w"), broker_.LastLease("w"), "7");
  broker_.Submit("c", "a");  // its final is on its way, perhaps to one who did not know yet that he wants it
  EXPECT_EQ(broker_.ToClient<wire::Final>("c").size(), 2u);
  broker_.Read("c");
  broker_.Submit("c", "a");  // ended, read, not acknowledged
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u);
  const auto finals = broker_.ToClient<wire::Final>("c");
  ASSERT_EQ(finals.size(), 3u);
  EXPECT_TRUE(finals[2].ok);
  EXPECT_EQ(broker_.PayloadOfLast(ClientPeer("c")), "7");
}

TEST_F(Ledger, TheSameIdWithOtherContentIsValidationAndTheFirstGoesOn) {
  Connect(1);
  broker_.Submit("c", CoreHarness::Spec("a"), "code", "1");
  broker_.Submit("c", CoreHarness::Spec("a"), "code", "2");
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kValidation);
  broker_.Clear();
  JobSpec other = CoreHarness::Spec("a");
  other.limits = {{"timeoutMs", 1}};
  broker_.Submit("c", other, "code", "1");
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kValidation);
  EXPECT_EQ(broker_.core.running(), 1u);
}

TEST_F(Ledger, AnAcknowledgedFinalIsForgottenAndItsIdIsFree) {
  Connect(1);
  broker_.Submit("c", "a");
  broker_.FinishOk(WorkerPeer("w"), broker_.LastLease("w"));
  broker_.Say(ClientPeer("c"), wire::Ack{{"a", "unknown"}});
  broker_.Submit("c", CoreHarness::Spec("a"), "other code");
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 2u);
}

TEST_F(Ledger, AnAckForAJobThatRunsIsIgnored) {
  Connect(1);
  broker_.Submit("c", "a");
  broker_.Say(ClientPeer("c"), wire::Ack{{"a"}});
  broker_.FinishOk(WorkerPeer("w"), broker_.LastLease("w"));
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
}

TEST_F(Ledger, TwoClientsMayUseTheSameId) {
  Connect(2);
  broker_.ConnectClient("d", "s2");
  broker_.Submit("c", CoreHarness::Spec("a"), "one");
  broker_.Submit("d", CoreHarness::Spec("a"), "two");
  const auto dispatches = broker_.ToWorker<wire::Dispatch>("w");
  ASSERT_EQ(dispatches.size(), 2u);
  broker_.FinishOk(WorkerPeer("w"), dispatches[1].lease);
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
  EXPECT_EQ(broker_.ToClient<wire::Final>("d").size(), 1u);
}

TEST_F(Ledger, FinalsAndLimitTripsAreCountedOncePerJobAndLimit) {
  Connect(3);
  for (const char* id : {"a", "b", "x"}) broker_.Submit("c", id);
  const auto dispatches = broker_.ToWorker<wire::Dispatch>("w");
  wire::Final timeout;
  timeout.lease = dispatches[0].lease;
  timeout.code = Code::kTimeout;
  timeout.limit = "timeoutMs";
  broker_.Say(WorkerPeer("w"), timeout, {""});
  wire::Final noisy;
  noisy.ok = true;
  noisy.lease = dispatches[1].lease;
  noisy.usage.dropped_events = 500;
  noisy.usage.tripped.Add(LimitId::kMaxStatusEvents);
  broker_.Say(WorkerPeer("w"), noisy, {"1"});
  broker_.FinishOk(WorkerPeer("w"), dispatches[2].lease);
  const BrokerCounters& counters = broker_.core.counters();
  EXPECT_EQ(counters.submitted, 3u);
  EXPECT_EQ(counters.accepted, 3u);
  EXPECT_EQ(counters.dropped_by_limit, 500u);
  EXPECT_EQ(counters.finished_ok, 2u);
  EXPECT_EQ(counters.finished_error[static_cast<std::size_t>(Code::kTimeout)], 1u);
  EXPECT_EQ(counters.limit_trips[static_cast<std::size_t>(LimitId::kTimeoutMs)], 1u);
  EXPECT_EQ(counters.limit_trips[static_cast<std::size_t>(LimitId::kMaxStatusEvents)], 1u);
  EXPECT_EQ(counters.limit_trips[static_cast<std::size_t>(LimitId::kMaxConsoleEvents)], 0u);
}

}  // namespace
}  // namespace skerry::broker
