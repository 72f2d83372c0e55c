// Jobs that name libraries: who may run them, what is refused, and what waits for a worker to come.
#include "broker/testing/core_harness.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

class LibraryJobs : public ::testing::Test {
 protected:
  LibraryJobs() { broker_.ConnectClient("c", "s"); }
  void ConnectWorker(const std::string& link, const LibraryNames& libraries, std::uint64_t slots = 4,
                     std::uint64_t memory_mb = 4096) {
    wire::Hello hello;
    hello.role = wire::Role::kWorker;
    hello.session = SessionId("session of " + link);
    hello.capabilities = {"reproducible", "programs"};
    hello.libraries = libraries;
    hello.slots = slots;
    hello.memory_mb = memory_mb;
    broker_.Say(WorkerPeer(link), hello);
  }
  void Submit(const std::string& id, const LibraryNames& libraries, const std::string& link = "c") {
    JobSpec spec = CoreHarness::Spec(id);
    spec.libraries = libraries;
    broker_.Submit(link, spec);
  }
  std::string DispatchedTo(const std::string& worker) const {
    std::string ids;
    for (const wire::Dispatch& dispatch : broker_.ToWorker<wire::Dispatch>(worker))
      ids += dispatch.job.id.str();
    return ids;
  }
  void ExpectRefused(const std::string& why) {
    EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kValidation);
    EXPECT_EQ(broker_.MessageOfLast("c"), why);
  }
  CoreHarness broker_;
};

TEST_F(LibraryJobs, GoOnlyToWorkersThatHaveAllOfThem) {
  ConnectWorker("none", {});
  ConnectWorker("a", {"a"});
  ConnectWorker("both", {"b", "a"});
  Submit("1", {"b", "a"});
  Submit("2", {"a"});
  Submit("3", {"b"});
  EXPECT_EQ(DispatchedTo("none"), "");
  EXPECT_EQ(DispatchedTo("a"), "2");
  EXPECT_EQ(DispatchedTo("both"), "13");
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("both")[0].job.libraries, (LibraryNames{"b", "a"}))
      << "in the job's own order";
}

TEST_F(LibraryJobs, AWorkerThatDoesNotKnowThemHasNoneWhateverItSays) {
  wire::Hello hello;
  hello.role = wire::Role::kWorker;
  hello.session = SessionId("old");
  hello.capabilities = {"reproducible"};
  hello.libraries = {"a"};
  hello.slots = 1;
  hello.memory_mb = 4096;
  broker_.Say(WorkerPeer("w"), hello);
  Submit("1", {"a"});
  ExpectRefused(
      "library 'a' is not known to this pool; known: none (its operator adds one: --library NAME=PATH, or "
      "[libraries] of skerry.toml)");
}

TEST_F(LibraryJobs, MessagePackGoesOnlyToWorkersThatKnowIt) {
  broker_.ConnectWorker("old", 4);
  JobSpec spec = CoreHarness::Spec("1");
  spec.encoding = Encoding::kMsgpack;
  broker_.Submit("c", spec);
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kOverloaded);
  EXPECT_EQ(broker_.MessageOfLast("c"),
            "no worker of this pool knows libraries and encoding: upgrade its workers");
  ConnectWorker("new", {});
  spec.id = JobId("2");
  broker_.Submit("c", spec);
  EXPECT_EQ(DispatchedTo("old"), "");
  EXPECT_EQ(DispatchedTo("new"), "2");
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("new")[0].job.encoding, Encoding::kMsgpack);
}

TEST_F(LibraryJobs, WhoNamesWhatNoConnectedWorkerHasIsToldWhatThereIs) {
  ConnectWorker("w", {"lodash", "ajv"});
  Submit("1", {"lodash", "lodahs"});
  ExpectRefused("library 'lodahs' is not known to this pool; known: 'ajv', 'lodash'");
}

TEST_F(LibraryJobs, WhoNamesWhatNoOneWorkerHasTogetherIsToldSo) {
  ConnectWorker("1", {"a"});
  ConnectWorker("2", {"b"});
  Submit("1", {"b", "a"});
  ExpectRefused("no worker of this pool has all of these libraries together: 'a', 'b'");
}

TEST_F(LibraryJobs, NamesThatAreNoneAreRefusedBeforeAnyWorkerIsThere) {
  Submit("1", {"a b"});
  ExpectRefused("each of libraries must be 1 to 64 of A-Z a-z 0-9 @ / . _ -");
}

TEST_F(LibraryJobs, WaitWhileNoWorkerIsConnectedAndAreRefusedByTheFirstThatComesWithoutThem) {
  Submit("1", {"a"});
  Submit("2", {"b"});
  EXPECT_EQ(broker_.core.queued(), 2u);
  ConnectWorker("w", {"b"});
  ExpectRefused("library 'a' is not known to this pool; known: 'b'");
  EXPECT_EQ(DispatchedTo("w"), "2");
}

TEST_F(LibraryJobs, WaitForAWorkerThatWentAwayAndOthersPassThem) {
  ConnectWorker("has", {"a"}, 1);
  ConnectWorker("has not", {}, 8);
  Submit("1", {"a"});
  Submit("2", {"a"});
  broker_.Say(WorkerPeer("has"), wire::Bye{});
  Submit("3", {});
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty());
  EXPECT_EQ(DispatchedTo("has not"), "3") << "of the same client, behind them";
  EXPECT_EQ(broker_.core.gauges().parked, 2u);
  broker_.Pass(Millis(5'000), {ClientPeer("c"), WorkerPeer("has not")});
  Submit("4", {});
  EXPECT_EQ(DispatchedTo("has not"), "34") << "however long they wait";
  ConnectWorker("back", {"a"});
  EXPECT_EQ(DispatchedTo("back"), "12") << "in their order";
  EXPECT_EQ(broker_.core.gauges().parked, 0u);
}

TEST_F(LibraryJobs, ThatNobodyCouldEverRunAgainAreStillTheirClientsToCancelAndExpire) {
  ConnectWorker("has", {"a"}, 1);
  ConnectWorker("has not", {});
  broker_.Say(WorkerPeer("has"), wire::Drain{});
  Submit("1", {"a"});
  Submit("2", {"a"});
  JobSpec spec = CoreHarness::Spec("3");
  spec.libraries = {"a"};
  spec.deadline_ms = 100;
  broker_.Submit("c", spec);
  EXPECT_EQ(broker_.core.gauges().parked, 3u) << "a worker that drains is connected, and takes nothing";
  broker_.Say(ClientPeer("c"), wire::Cancel{JobId("1"), LeaseId()});
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kCancelled);
  broker_.Clear();
  broker_.Pass(Millis(100), {ClientPeer("c")});
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kExpired);
  EXPECT_EQ(broker_.core.queued(), 1u);
  ConnectWorker("has again", {"a"});
  EXPECT_EQ(DispatchedTo("has again"), "2");
}

TEST_F(LibraryJobs, WhoseWorkersAreBusyArePassedByThoseThatNeedNoneAndComeFirstWhenOneIsFree) {
  ConnectWorker("has", {"a"}, 1);
  ConnectWorker("has not", {}, 8);
  Submit("1", {"a"});
  broker_.ConnectClient("other", "s2");
  Submit("2", {"a"});
  broker_.Pass(Millis(5'000),
               {ClientPeer("c"), ClientPeer("other"), WorkerPeer("has"), WorkerPeer("has not")});
  Submit("3", {}, "other");
  EXPECT_EQ(DispatchedTo("has not"), "3");
  broker_.FinishOk(WorkerPeer("has"), broker_.LastLease("has"));
  EXPECT_EQ(DispatchedTo("has"), "12");
}

TEST_F(LibraryJobs, TooLargeForTheWorkersThatHaveThemAreToldThese) {
  ConnectWorker("has", {"a"}, 1, 128);
  ConnectWorker("large", {}, 1, 4096);
  Submit("1", {"a"});
  EXPECT_EQ(broker_.OnlyFinal("c").code, Code::kOverloaded);
  EXPECT_NE(broker_.MessageOfLast("c").find("the largest has 128"), std::string::npos)
      << broker_.MessageOfLast("c");
}

TEST_F(LibraryJobs, AWorkersNamesAreCheckedToo) {
  ConnectWorker("twice", {"a", "a"});
  ASSERT_EQ(broker_.ToWorker<wire::Refuse>("twice").size(), 1u);
  EXPECT_EQ(broker_.ToWorker<wire::Refuse>("twice")[0].reason, "hello.libraries names 'a' twice");
  LibraryNames names;
  for (int i = 0; i < 64; ++i) names.push_back("l" + std::to_string(i));
  ConnectWorker("many", names);
  EXPECT_EQ(broker_.ToWorker<wire::Welcome>("many").size(), 1u);
  names.push_back("one more");
  ConnectWorker("too many", names);
  EXPECT_EQ(broker_.ToWorker<wire::Welcome>("too many").size(), 0u);
}

TEST_F(LibraryJobs, OneWorkerMoreWithALibraryOfItsOwnThanThereMayBeIsRefused) {
  for (std::size_t i = 0; i < WorkerRegistry::kMaxKinds; ++i)
    ConnectWorker("w" + std::to_string(i), {"l" + std::to_string(i)});
  ConnectWorker("more", {"more"});
  ASSERT_EQ(broker_.ToWorker<wire::Refuse>("more").size(), 1u);
  EXPECT_NE(broker_.ToWorker<wire::Refuse>("more")[0].reason.find("64 different sets"), std::string::npos);
  ConnectWorker("like another", {"l0"});
  EXPECT_EQ(broker_.ToWorker<wire::Welcome>("like another").size(), 1u);
}

}  // namespace
}  // namespace skerry::broker
