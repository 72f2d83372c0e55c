// Jobs that ask for a seed, a clock or a receipt: who may run them, and what their finals carry.
#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

class ReproducibleJobs : public ::testing::Test {
 protected:
  ReproducibleJobs() { broker_.ConnectClient("c", "s"); }
  void ConnectOldWorker(const std::string& link) {
    broker_.ConnectWorker(link, 4, 4096, {}, {}, {"stats", "wasm"});
  }
  static JobSpec Asking(const std::string& id) {
    JobSpec spec = CoreHarness::Spec(id);
    spec.receipt = true;
    return spec;
  }
  void Finish(const std::string& worker, const std::vector<std::string>& payloads) {
    wire::Final final;
    final.lease = broker_.LastLease(worker);
    final.ok = true;
    final.started = true;
    broker_.Say(WorkerPeer(worker), final, payloads);
  }
  std::vector<std::string> PayloadsOfFinal() const {
    std::vector<std::string> payloads;
    for (const Send& send : broker_.sends) {
      if (!std::holds_alternative<wire::Final>(send.header) || send.peer.side != Side::kClient) continue;
      for (const Payload& payload : send.payloads) payloads.emplace_back(payload.bytes());
    }
    return payloads;
  }
  CoreHarness broker_;
};

TEST_F(ReproducibleJobs, TheBrokerSaysThatItKnowsThemToThoseWhoDo) {
  wire::Hello hello;
  hello.session = SessionId("new");
  hello.capabilities = {"wasm", "reproducible"};
  broker_.Say(ClientPeer("new"), hello);
  EXPECT_EQ(broker_.ToClient<wire::Welcome>("new").back().capabilities,
            std::vector<std::string>{"reproducible"});
}

TEST_F(ReproducibleJobs, GoOnlyToWorkersThatKnowThem) {
  ConnectOldWorker("old");
  broker_.ConnectWorker("new", 3);
  JobSpec seeded = CoreHarness::Spec("seeded");
  seeded.seed = 0;
  JobSpec frozen = CoreHarness::Spec("frozen");
  frozen.clock_ms = 0;
  broker_.Submit("c", seeded);
  broker_.Submit("c", frozen);
  broker_.Submit("c", Asking("receipt"));
  EXPECT_TRUE(broker_.ToWorker<wire::Dispatch>("old").empty());
  const auto dispatches = broker_.ToWorker<wire::Dispatch>("new");
  ASSERT_EQ(dispatches.size(), 3u);
  EXPECT_EQ(dispatches[0].job.seed, 0u);
  EXPECT_EQ(dispatches[1].job.clock_ms, 0u);
  EXPECT_TRUE(dispatches[2].job.receipt);
  broker_.Submit("c", "plain");
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("old").size(), 1u) << "others go where they always went";
}

TEST_F(ReproducibleJobs, WaitForSuchAWorkerWhileOthersPass) {
  ConnectOldWorker("old");
  broker_.ConnectWorker("new", 1);
  broker_.Submit("c", Asking("first"));
  broker_.Submit("c", Asking("second"));
  broker_.ConnectClient("other", "s2");
  broker_.Submit("other", "plain");
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("old").size(), 1u);
  Finish("new", {"1", "{}"});
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("new").back().job.id.str(), "second");
}

TEST_F(ReproducibleJobs, AreRefusedWithTheReasonWhereNoWorkerKnowsThem) {
  ConnectOldWorker("old");
  broker_.Submit("c", Asking("a"));
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kOverloaded);
  EXPECT_EQ(broker_.OnlyFinal("c").retry_after_ms, 0u);
  EXPECT_NE(broker_.MessageOfLast("c").find("upgrade its workers"), std::string::npos)
      << broker_.MessageOfLast("c");
}

TEST_F(ReproducibleJobs, ASeedThatIsNoneIsItsJobsValidationAndItsClientGoesOn) {
  broker_.ConnectWorker("w", 1);
  // {"t": "submit", "id": "a", "seed": -1}
  const auto header = wire::Decode(
      "\x83\xa1t\xa6"
      "submit\xa2id\xa1"
      "a\xa4seed\xff");
  ASSERT_TRUE(header) << header.error().message;
  broker_.Submit("c", std::get<wire::Submit>(*header).job);
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kValidation);
  EXPECT_EQ(broker_.MessageOfLast("c"), "seed must be an integer from 0 to 9007199254740991");
  broker_.Submit("c", "b");
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u);
}

TEST_F(ReproducibleJobs, AReceiptPassesThroughUnread) {
  broker_.ConnectWorker("w", 1);
  broker_.Submit("c", Asking("a"));
  Finish("w", {"42", "not even JSON"});
  EXPECT_EQ(PayloadsOfFinal(), (std::vector<std::string>{"42", "not even JSON"}));
  EXPECT_EQ(broker_.core.counters().result_bytes, 2u);
}

TEST_F(ReproducibleJobs, AReceiptIsKeptWithItsFinalUntilThatIsAcknowledged) {
  broker_.ConnectWorker("w", 1);
  broker_.Submit("c", Asking("a"));
  Finish("w", {"42", "receipt"});
  EXPECT_EQ(broker_.core.held_bytes(), 9u);
  broker_.Clear();
  broker_.ConnectClient("again", "s");
  EXPECT_EQ(PayloadsOfFinal(), (std::vector<std::string>{"42", "receipt"}));
  broker_.Say(ClientPeer("again"), wire::Ack{{"a"}});
  EXPECT_EQ(broker_.core.held_bytes(), 0u);
}

TEST_F(ReproducibleJobs, AReceiptOfTheLargestSizePassesAndOneByteMoreIsALie) {
  broker_.ConnectWorker("w", 2);
  broker_.Submit("c", Asking("a"));
  Finish("w", {"1", std::string(kMaxReceiptBytes, ' ')});
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
  broker_.Submit("c", Asking("b"));
  Finish("w", {"1", std::string(kMaxReceiptBytes + 1, ' ')});
  EXPECT_EQ(broker_.core.counters().workers_cut_off, 1u);
}

TEST_F(ReproducibleJobs, AReceiptThatNobodyAskedForIsALie) {
  broker_.ConnectWorker("w", 1);
  broker_.Submit("c", "a");
  Finish("w", {"1", "{}"});
  EXPECT_EQ(broker_.core.counters().workers_cut_off, 1u);
}

TEST_F(ReproducibleJobs, AFinalOfOneThatNeverStartedNeedsNone) {
  broker_.ConnectWorker("w", 1);
  broker_.Submit("c", Asking("a"));
  Finish("w", {"1"});
  EXPECT_TRUE(broker_.OnlyFinal("c").ok);
  EXPECT_EQ(broker_.core.counters().workers_cut_off, 0u);
}

}  // namespace
}  // namespace skerry::broker
