#include "broker/admin/admin_desk.h"

#include <numeric>
#include <set>

#include "broker/testing/core_harness.h"
#include "common/wire/admin_codec.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

wire::Ask Question(std::string_view what, std::string id = {}) {
  wire::Ask ask;
  ask.number = 5;
  ask.what = what;
  ask.id = std::move(id);
  return ask;
}

std::uint64_t Sum(const wire::NamedCounts& counts) {
  return std::accumulate(counts.entries.begin(), counts.entries.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

std::uint64_t CountOf(const wire::NamedCounts& counts, std::string_view name) {
  for (const auto& [entry, count] : counts.entries) {
    if (entry == name) return count;
  }
  return 0;
}

class AdminDeskTest : public ::testing::Test {
 protected:
  template <class Row>
  std::vector<Row> Rows(const wire::Ask& ask, wire::Told* told_out = nullptr) {
    const AdminAnswer answer = desk_.Answer(wire::EncodeAdmin(ask), broker_.now);
    const auto* told = std::get_if<wire::Told>(&answer.header);
    if (told == nullptr) {
      ADD_FAILURE() << std::get<wire::Denied>(answer.header).reason;
      return {};
    }
    EXPECT_EQ(told->number, ask.number);
    if (told_out != nullptr) *told_out = *told;
    auto rows = wire::ReadRows<Row>(answer.rows, told->rows);
    EXPECT_TRUE(rows);
    return rows ? *rows : std::vector<Row>();
  }
  /// Page after page; no page may have more than `most`.
  template <class Row>
  std::vector<Row> Walk(std::string_view what, std::uint64_t most) {
    std::vector<Row> all;
    wire::Ask ask = Question(what);
    ask.rows = most;
    for (wire::Told told;; ask.after = told.next) {
      told = {};
      const auto rows = Rows<Row>(ask, &told);
      EXPECT_LE(rows.size(), most);
      all.insert(all.end(), rows.begin(), rows.end());
      if (told.next.empty()) return all;
      EXPECT_LT(ask.after, told.next);
      if (ask.after >= told.next) return all;
    }
  }
  std::string Denial(std::string_view header) {
    const AdminAnswer answer = desk_.Answer(header, broker_.now);
    const auto* denied = std::get_if<wire::Denied>(&answer.header);
    EXPECT_NE(denied, nullptr);
    EXPECT_TRUE(answer.rows.empty());
    return denied == nullptr ? "" : denied->reason;
  }
  wire::TenantRow Tenant(const std::string& name) {
    const auto rows = Rows<wire::TenantRow>(Question(wire::question::kTenants, name));
    EXPECT_EQ(rows.size(), 1u);
    return rows.empty() ? wire::TenantRow() : rows[0];
  }
  void SubmitFor(const std::string& tenant, const std::string& id) {
    JobSpec spec = CoreHarness::Spec(id);
    spec.tenant = TenantId(tenant);
    broker_.Submit("c", std::move(spec));
  }

  CoreHarness broker_;
  AdminDesk desk_{broker_.core, TimePoint()};
};

TEST_F(AdminDeskTest, ABrokersRowSaysWhatWasRunAndWhatWaits) {
  broker_.ConnectClient("c", "s");
  broker_.ConnectWorker("w", 1);
  broker_.Submit("c", "a");
  broker_.FinishOk(WorkerPeer("w"), broker_.LastLease("w"));
  broker_.Submit("c", "b");
  broker_.Submit("c", "waits");
  broker_.Pass(Millis(1'500), {WorkerPeer("w"), ClientPeer("c")});
  const auto rows = Rows<wire::BrokerRow>(Question(wire::question::kBroker));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].up_ms, 1'500u);
  EXPECT_EQ(rows[0].ok, 1u);
  EXPECT_EQ(rows[0].queued, 1u);
  EXPECT_EQ(rows[0].slots_used, 1u);
  EXPECT_EQ(rows[0].accepted, 3u);
  EXPECT_EQ(rows[0].dispatched, 2u);
  EXPECT_EQ(rows[0].tenants, 1u);
}

TEST_F(AdminDeskTest, ABrokerIsToldFromOthersAndFromWhatItWasBeforeItBeganAnew) {
  const auto ask = Question(wire::question::kBroker);
  const std::string instance = Rows<wire::BrokerRow>(ask).at(0).instance;
  EXPECT_FALSE(instance.empty());
  EXPECT_EQ(Rows<wire::BrokerRow>(ask).at(0).instance, instance);
  AdminDesk another(broker_.core, TimePoint());
  const AdminAnswer answer = another.Answer(wire::EncodeAdmin(ask), broker_.now);
  EXPECT_NE(wire::ReadRows<wire::BrokerRow>(answer.rows, 1)->at(0).instance, instance);
}

TEST_F(AdminDeskTest, AWorkersRowIsWhatItSaidAndWhatItHolds) {
  wire::Hello hello;
  hello.role = wire::Role::kWorker;
  hello.session = SessionId("w-1");
  hello.slots = 2;
  hello.memory_mb = 1'024;
  hello.software = "skerry/9";
  hello.host = "node\x1b[2J-7";
  hello.pid = 4711;
  hello.capabilities = {"reproducible", "programs", "stats"};
  hello.libraries = {"zod", "lodash"};
  broker_.Say(WorkerPeer("w"), hello);
  wire::Stats stats;
  stats.exits.entries = {{"sigsegv", 3}};
  broker_.Say(WorkerPeer("w"), stats);
  broker_.ConnectClient("c", "s");
  broker_.Submit("c", "a");
  broker_.Pass(Millis(2'000), {WorkerPeer("w")});

  const auto rows = Rows<wire::WorkerRow>(Question(wire::question::kWorkers, "w-1"));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].state, "serving");
  EXPECT_EQ(rows[0].used, 1u);
  EXPECT_EQ(rows[0].slots, 2u);
  EXPECT_EQ(rows[0].host, "node?[2J-7");
  EXPECT_EQ(rows[0].pid, 4711u);
  EXPECT_EQ(rows[0].software, "skerry/9");
  EXPECT_EQ(rows[0].libraries, (std::vector<std::string>{"lodash", "zod"}));
  EXPECT_EQ(rows[0].since_ms, 2'000u);
  EXPECT_EQ(rows[0].dispatched, 1u);
  EXPECT_EQ(CountOf(rows[0].exits, "sigsegv"), 3u);
  EXPECT_TRUE(Rows<wire::WorkerRow>(Question(wire::question::kWorkers, "w-2")).empty());
}

TEST_F(AdminDeskTest, WorkersAndLiarsComeInOneOrderPageByPage) {
  for (const char* name : {"e", "b", "d", "a", "c"}) broker_.ConnectWorker(name, 1, 4096, name);
  for (const char* name : {"b", "e"}) {
    wire::Final lie;
    lie.lease = LeaseId(9'999);
    broker_.Say(WorkerPeer(name), lie, {"1"});
  }
  for (const std::uint64_t most : {1u, 2u, 4u, 5u, 6u}) {
    const auto rows = Walk<wire::WorkerRow>(wire::question::kWorkers, most);
    std::string states;
    for (const auto& row : rows) states += row.id.str() + ":" + row.state + " ";
    EXPECT_EQ(states, "a:serving b:cutOff c:serving d:serving e:cutOff ") << most;
    ASSERT_EQ(rows.size(), 5u);
    EXPECT_NE(rows[1].reason.find("lease 9999"), std::string::npos) << rows[1].reason;
  }
}

TEST_F(AdminDeskTest, TenantsOfTheFileAndThoseHeardOfComeInOneOrderPageByPage) {
  auto tenants = Tenants::Parse("[tenants.bb]\nweight = 4\nmax_queued = 7\n[tenants.dd]\nrate = 3\n", "t");
  ASSERT_TRUE(tenants) << tenants.error().message;
  broker_.core.SetTenants(std::move(*tenants), broker_.now);
  broker_.ConnectClient("c", "s");
  SubmitFor("cc", "1");
  SubmitFor("bb", "2");
  SubmitFor("aa", "3");
  for (const std::uint64_t most : {1u, 3u, 4u, 5u}) {
    const auto rows = Walk<wire::TenantRow>(wire::question::kTenants, most);
    ASSERT_EQ(rows.size(), 4u) << most;
    EXPECT_EQ(rows[0].name.str() + rows[1].name.str() + rows[2].name.str() + rows[3].name.str(), "aabbccdd");
    EXPECT_EQ(rows[1].weight, 4u);
    EXPECT_EQ(rows[1].max_queued, 7u);
    EXPECT_EQ(rows[1].queued, 1u);
    EXPECT_TRUE(rows[1].named);
    EXPECT_EQ(rows[0].max_queued, 0u) << "0 is no limit";
    EXPECT_EQ(rows[3].rate, 3u);
    EXPECT_EQ(rows[3].queued, 0u);
  }
}

TEST_F(AdminDeskTest, WhatIsLeftOfOthersEndsTheLastPageAlsoWhereThatIsFull) {
  broker_.ConnectClient("c", "s");
  SubmitFor("aa", "1");
  SubmitFor("bb", "2");
  SubmitFor("evil\n", "3");
  for (const std::uint64_t most : {1u, 2u, 3u}) {
    const auto rows = Walk<wire::TenantRow>(wire::question::kTenants, most);
    ASSERT_EQ(rows.size(), 3u) << most;
    EXPECT_TRUE(rows[2].name.empty());
    EXPECT_EQ(CountOf(rows[2].refused, "validation"), 1u);
  }
}

TEST_F(AdminDeskTest, WhatIsAcceptedIsQueuedRunningOrEndedAtEveryMoment) {
  broker_.ConnectClient("c", "s");
  broker_.ConnectWorker("w", 2);
  const auto expect_balance = [this](const char* when) {
    const auto row = Tenant("acme");
    EXPECT_EQ(row.accepted, row.ok + Sum(row.errors) + row.queued + row.running) << when;
  };
  for (int i = 0; i < 5; ++i) SubmitFor("acme", std::to_string(i));
  expect_balance("two run, three wait");
  const LeaseId last = broker_.LastLease("w");
  broker_.FinishOk(WorkerPeer("w"), last, "12345");
  expect_balance("one has ended");
  broker_.Say(ClientPeer("c"), wire::Cancel{JobId("4"), LeaseId()});
  expect_balance("one was cancelled in the queue");
  SubmitFor("acme", "0");
  expect_balance("one was submitted again");
  SubmitFor("acme", "");
  expect_balance("one was refused");
  broker_.Say(WorkerPeer("w"), wire::Bye{});
  expect_balance("its worker has gone");
  const auto row = Tenant("acme");
  EXPECT_EQ(row.accepted, 5u);
  EXPECT_EQ(row.ok, 1u);
  EXPECT_EQ(CountOf(row.errors, "CANCELLED"), 1u);
  EXPECT_EQ(CountOf(row.refused, "validation"), 1u);
  EXPECT_EQ(row.in_bytes, 5 * (std::string_view("code").size() + 1));
  EXPECT_GT(row.out_bytes, 5u) << "the value, and the text of the cancelled one";
}

TEST_F(AdminDeskTest, ADrainedWorkerFinishesWhatItHasAndGetsNoMore) {
  broker_.ConnectClient("c", "s");
  broker_.ConnectWorker("w", 2, 4096, "w-1");
  broker_.Submit("c", "a");
  const LeaseId held = broker_.LastLease("w");
  const auto drained = Rows<wire::WorkerRow>(Question(wire::question::kDrain, "w-1"));
  ASSERT_EQ(drained.size(), 1u);
  EXPECT_EQ(drained[0].state, "drained");
  EXPECT_EQ(drained[0].used, 1u);

  broker_.Submit("c", "b");
  broker_.FinishOk(WorkerPeer("w"), held);
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w").size(), 1u) << "nothing after the drain";
  EXPECT_TRUE(broker_.OnlyFinal("c").ok) << "what it held has ended well";
  EXPECT_EQ(broker_.core.queued(), 1u) << "the other waits";

  // Its link breaks; a HELLO and a CREDIT do not bring it back among those that take jobs.
  broker_.ConnectWorker("w again", 2, 4096, "w-1");
  broker_.Say(WorkerPeer("w again"), wire::Credit{2, 4096});
  EXPECT_TRUE(broker_.ToWorker<wire::Dispatch>("w again").empty());
  EXPECT_EQ(Rows<wire::WorkerRow>(Question(wire::question::kWorkers, "w-1"))[0].used, 0u);

  const auto back = Rows<wire::WorkerRow>(Question(wire::question::kUndrain, "w-1"));
  broker_.Pass(Millis(1));
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].state, "serving");
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("w again").size(), 1u) << "the one that waited";
}

TEST_F(AdminDeskTest, JobsWaitWhileEveryWorkerIsDrainedAndOthersTakeThemMeanwhile) {
  broker_.ConnectClient("c", "s");
  broker_.ConnectWorker("w", 1, 4096, "w-1");
  Rows<wire::WorkerRow>(Question(wire::question::kDrain, "w-1"));
  broker_.Submit("c", "a");
  EXPECT_EQ(broker_.core.queued(), 1u);
  EXPECT_TRUE(broker_.ToClient<wire::Final>("c").empty()) << "no worker takes jobs: that is no refusal";
  broker_.ConnectWorker("v", 1);
  EXPECT_EQ(broker_.ToWorker<wire::Dispatch>("v").size(), 1u);
  EXPECT_EQ(broker_.core.gauges().workers.accepting, 1u);
}

TEST_F(AdminDeskTest, WhatItCannotAnswerIsDeniedWithTheReason) {
  EXPECT_EQ(Denial("junk").find("broken message: "), 0u);
  EXPECT_EQ(Denial(wire::EncodeAdmin(wire::Told{})), "this socket answers questions only");
  EXPECT_NE(Denial(wire::EncodeAdmin(Question("drain", "nobody"))).find("no worker 'nobody'"),
            std::string::npos);
  EXPECT_NE(Denial(wire::EncodeAdmin(Question("horoscope\x1b")))
                .find("does not know the question 'horoscope?': upgrade the broker"),
            std::string::npos);
}

TEST_F(AdminDeskTest, AToolOfAnotherVersionWorksOrIsToldWhichSideToUpgrade) {
  wire::Ask ask = Question("broker");
  ask.version = 7;
  ask.oldest_version = 1;
  EXPECT_EQ(Rows<wire::BrokerRow>(ask).size(), 1u) << "newer, and speaks ours";
  ask.oldest_version = 2;
  EXPECT_EQ(Denial(wire::EncodeAdmin(ask)),
            "this admin tool speaks wire versions 2 to 7, this broker 1 to 1: upgrade the broker");
}

}  // namespace
}  // namespace skerry::broker
