// Bad clients beside a good one. The good one's throughput is measured in turns, in one run: beside a client
// that misbehaves, and beside its well-behaved twin, which offers the same load: slots go by order of
// arrival, so what jobs cost is not what bad manners cost. At the end the broker has forgotten the bad
// client.
//
// The 10 % are asserted under the label `full`, on a machine that does nothing else; the short runs only
// notice when the good client comes to a stop.
#include <atomic>
#include <functional>
#include <thread>

#include "clients/cpp/client.h"
#include "common/testing/proc_fs.h"
#include "tests/integration/raw_client.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

enum class Manners : std::uint8_t { kGood, kBad };

// A slice's bad client or its twin: returns when `stop` is set, and vanishes.
using Actor =
    std::function<void(const Pool&, Manners, const std::string& session, const std::atomic<bool>& stop)>;

struct Trial {
  Millis slice;  ///< measured
  Millis rest;   ///< behind each slice, for what the actor left to be freed
  int rounds;    ///< a slice of each kind in each
  double least;  ///< good throughput beside the bad one, as a part of that beside the twin
};

constexpr Millis kTtl{300};

// Keeps so many trivial jobs in flight and counts those that end.
class GoodClient {
 public:
  explicit GoodClient(const std::string& broker) : thread_([this, broker] { Work(broker); }) {}
  ~GoodClient() {
    stop_ = true;
    thread_.join();
  }
  std::uint64_t done() const { return done_; }
  const std::string& fault() const { return fault_; }

 private:
  void Work(const std::string& broker) {
    constexpr std::uint64_t kWindow = 32;
    ClientOptions options;
    options.broker = broker;
    auto client = Client::Connect(options);
    if (!client) {
      fault_ = client.error().message;
      return;
    }
    for (std::uint64_t next = 0; !stop_ && fault_.empty();) {
      while ((*client)->unfinished() < kWindow) {
        JobRequest request;
        request.spec.id = JobId("g" + std::to_string(next++));
        request.code = "return 1";
        if (!(*client)->Submit(request)) break;
      }
      const auto event = (*client)->Next(Millis(100));
      if (!event) continue;
      if (const auto* failed = std::get_if<LinkFailed>(&*event)) fault_ = failed->error.message;
      const auto* final = std::get_if<JobFinal>(&*event);
      if (final == nullptr) continue;
      if (!final->outcome.ok()) fault_ = final->outcome.error->message;
      ++done_;
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> done_{0};
  std::string fault_;  // read when the thread has ended, or in vain
  std::thread thread_;
};

// Calls `act` this many times a second until told to stop.
void Paced(int per_second, const std::atomic<bool>& stop, const std::function<void()>& act) {
  const auto step = std::chrono::duration_cast<SteadyClock::duration>(std::chrono::seconds(1)) / per_second;
  for (TimePoint next = SteadyClock::now(); !stop; next += step) {
    std::this_thread::sleep_until(next);
    act();
  }
}

void ReadAndAcknowledge(RawClient& client) {
  wire::Ack ack;
  while (const auto header = client.Read(Millis(0))) {
    if (const auto* final = std::get_if<wire::Final>(&*header)) ack.ids.push_back(final->id.str());
    if (std::holds_alternative<wire::Ping>(*header)) client.Send(wire::Pong{});
  }
  if (!ack.ids.empty()) client.Send(ack);
}

// Jobs that say a lot, to a client that never listens.
void NeverReads(const Pool& pool, Manners manners, const std::string& session,
                const std::atomic<bool>& stop) {
  RawClient client(pool.client_url(), session, manners == Manners::kBad ? Hearing::kDeaf : Hearing::kGood);
  client.Greet();
  int next = 0;
  Paced(50, stop, [&] {
    client.Submit("n" + std::to_string(next++),
                  "for(let i=0;i<20;i++)console.log('x'.repeat(1000));return 1");
    if (manners == Manners::kGood) ReadAndAcknowledge(client);
  });
}

// More jobs a second than anybody runs, none of which would wait. Its twin only says that it is there.
void Floods(const Pool& pool, Manners manners, const std::string& session, const std::atomic<bool>& stop) {
  RawClient client(pool.client_url(), session);
  client.Greet();
  int next = 0;
  constexpr int kAtOnce = 20;
  Paced(100, stop, [&] {
    for (int i = 0; i < kAtOnce && manners == Manners::kBad; ++i)
      client.Submit("f" + std::to_string(next++), "return 1", "null", Admission::kFailFast);
    ReadAndAcknowledge(client);
  });
}

// Answers each host call twice, others that nobody made, and all of it again when the job has ended.
void AnswersWrongly(const Pool& pool, Manners manners, const std::string& session,
                    const std::atomic<bool>& stop) {
  RawClient client(pool.client_url(), session);
  client.Greet();
  int next = 0;
  const auto answer = [&](const JobId& id, std::uint32_t attempt, std::uint32_t call) {
    client.Send(wire::Answer{id, LeaseId(), attempt, call, wire::AnswerKind::kValue}, {"1"});
  };
  Paced(50, stop, [&] {
    client.Submit("a" + std::to_string(next++), "await dataProxy.request('m');return dataProxy.request('n')");
    wire::Ack ack;
    while (const auto header = client.Read(Millis(0))) {
      if (std::holds_alternative<wire::Ping>(*header)) client.Send(wire::Pong{});
      if (const auto* call = std::get_if<wire::Call>(&*header)) {
        answer(call->id, call->attempt, call->call);
        if (manners == Manners::kGood) continue;
        answer(call->id, call->attempt, call->call);
        answer(call->id, call->attempt, call->call + 7);
        answer(call->id, call->attempt + 1, call->call);
        answer(JobId("nobody's"), 1, call->call);
      }
      if (const auto* final = std::get_if<wire::Final>(&*header)) {
        ack.ids.push_back(final->id.str());
        for (std::uint32_t number = 1; manners == Manners::kBad && number < 4; ++number)
          answer(final->id, 1, number);
      }
    }
    if (!ack.ids.empty()) client.Send(ack);
  });
}

// Queues many jobs and is gone; the twin stays for their results.
Actor Vanishes(int jobs) {
  return
      [jobs](const Pool& pool, Manners manners, const std::string& session, const std::atomic<bool>& stop) {
        RawClient client(pool.client_url(), session);
        client.Greet();
        for (int i = 0; i < jobs; ++i) client.Submit("v" + std::to_string(i), "return 1");
        if (manners == Manners::kBad) {
          // Once the last one is accepted they are all queued.
          for (int accepted = 0; accepted < jobs && !stop;) {
            const auto header = client.Read(Millis(100));
            accepted += header && std::holds_alternative<wire::Accepted>(*header) ? 1 : 0;
          }
          return;
        }
        while (!stop) {
          ReadAndAcknowledge(client);
          std::this_thread::sleep_for(Millis(5));
        }
        client.Send(wire::Bye{});
        std::this_thread::sleep_for(Millis(50));
      };
}

class BadClients : public ::testing::Test {
 protected:
  // The broker's size above what it was: no queue of its own may pass this.
  static constexpr std::uint64_t kMostGrowth = 96u << 20;

  std::uint64_t Slice(const Actor& actor, Manners manners, const Trial& trial, GoodClient& good) {
    const std::string session = "bad-" + std::to_string(++sessions_);
    std::atomic<bool> stop{false};
    std::thread thread([&] { actor(pool_, manners, session, stop); });
    std::this_thread::sleep_for(Millis(200));
    const std::uint64_t before = good.done();
    std::this_thread::sleep_for(trial.slice);
    const std::uint64_t done = good.done() - before;
    stop = true;
    thread.join();
    std::this_thread::sleep_for(trial.rest);
    EXPECT_TRUE(IsForgotten(session));
    std::printf("%s %llu\n", manners == Manners::kBad ? "bad" : "twin",
                static_cast<unsigned long long>(done));
    return done;
  }

  // Whoever greets under the name of a session that still lives is told so.
  bool IsForgotten(const std::string& session) {
    for (int i = 0; i < 100; ++i) {
      RawClient again(pool_.client_url(), session);
      const auto welcome = again.Greet();
      if (!welcome) return false;
      again.Send(wire::Bye{});
      std::this_thread::sleep_for(Millis(50));
      if (!welcome->resumed) return true;
    }
    return false;
  }

  void Try(const Actor& actor, const Trial& trial) {
    ASSERT_TRUE(IsOk(pool_.RunOne(Job("warm", "return 1")), Json(1))) << pool_.Logs();
    GoodClient good(pool_.client_url());
    std::this_thread::sleep_for(Millis(500));
    const std::uint64_t size = ResidentBytes(pool_.broker().pid());
    std::uint64_t beside_bad = 0;
    std::uint64_t beside_twin = 0;
    for (int round = 0; round < trial.rounds; ++round) {
      beside_twin += Slice(actor, Manners::kGood, trial, good);
      beside_bad += Slice(actor, Manners::kBad, trial, good);
    }
    EXPECT_EQ(good.fault(), "");
    const double ratio =
        static_cast<double>(beside_bad) / static_cast<double>(std::max<std::uint64_t>(beside_twin, 1));
    std::printf("beside the twin %llu, beside the bad client %llu: %.3f\n",
                static_cast<unsigned long long>(beside_twin), static_cast<unsigned long long>(beside_bad),
                ratio);
    EXPECT_GT(beside_twin, 0u);
    EXPECT_GE(ratio, trial.least);
    EXPECT_LE(PeakResidentBytes(pool_.broker().pid()), size + kMostGrowth);
  }

  Pool pool_{
      {.isolates = 4,
       .broker_args = {"--heartbeat-ms", "100", "--peer-timeout-ms", "500", "--session-ttl-ms",
                       std::to_string(kTtl.count()), "--client-credit", "10000", "--log-level", "warn"}}};
  int sessions_ = 0;
};

constexpr Trial kShort{Millis(1'500), Millis(300), 1, 0.5};

TEST_F(BadClients, OneThatNeverReadsStopsNobody) {
  Try(NeverReads, kShort);
}
TEST_F(BadClients, OneThatFloodsStopsNobody) {
  Try(Floods, kShort);
}
TEST_F(BadClients, OneThatAnswersWronglyStopsNobody) {
  Try(AnswersWrongly, kShort);
}
TEST_F(BadClients, OneThatVanishesWithItsJobsQueuedStopsNobody) {
  Try(Vanishes(1'000), kShort);
}

using BadClientsFull = BadClients;
constexpr Trial kLong{Millis(4'000), Millis(1'000), 4, 0.9};

TEST_F(BadClientsFull, OneThatNeverReadsCostsOthersLessThanATenth) {
  Try(NeverReads, kLong);
}
TEST_F(BadClientsFull, OneThatFloodsCostsOthersLessThanATenth) {
  Try(Floods, kLong);
}
TEST_F(BadClientsFull, OneThatAnswersWronglyCostsOthersLessThanATenth) {
  Try(AnswersWrongly, kLong);
}
TEST_F(BadClientsFull, OneThatVanishesWithTenThousandJobsQueuedCostsOthersLessThanATenth) {
  Try(Vanishes(10'000), {Millis(15'000), Millis(1'000), 2, 0.9});
}

// Results that nobody takes, far more of them than a session may have unacknowledged.
TEST_F(BadClientsFull, ResultsThatAreNeverReadDoNotPileUp) {
  constexpr int kJobs = 200;
  constexpr std::uint64_t kUnacknowledged = 256u << 20;  // BrokerConfig::max_unacked_bytes
  const std::uint64_t size = ResidentBytes(pool_.broker().pid());
  RawClient client(pool_.client_url(), "deaf", Hearing::kDeaf);
  ASSERT_TRUE(client.Greet());
  for (int i = 0; i < kJobs; ++i) client.Submit("d" + std::to_string(i), "return 'x'.repeat(4<<20)");
  for (int i = 0; i < 100; ++i) {
    client.Send(wire::Ping{});  // it lives, it only does not read
    std::this_thread::sleep_for(Millis(100));
  }
  EXPECT_LE(PeakResidentBytes(pool_.broker().pid()), size + kUnacknowledged + kMostGrowth);
  EXPECT_TRUE(IsOk(pool_.RunOne(Job("other", "return 1")), Json(1))) << pool_.Logs();
}

// Submissions without regard to credit: what is past it is refused, not kept. Who does not say that he has
// read the refusals is sent no more than a window of them.
TEST_F(BadClientsFull, JobsPastTheCreditAreRefusedNotKept) {
  const std::uint64_t size = ResidentBytes(pool_.broker().pid());
  for (const bool says_so : {true, false}) {
    RawClient client(pool_.client_url(), says_so ? "greedy" : "silent");
    ASSERT_TRUE(client.Greet());
    std::size_t refused = 0;
    for (int i = 0; i < 100'000; ++i) {
      ASSERT_TRUE(client.Submit("q" + std::to_string(i), "await new Promise(()=>0)"));
      while (const auto header = client.Read(Millis(0))) {
        const auto* final = std::get_if<wire::Final>(&*header);
        refused += final != nullptr && final->code == Code::kOverloaded ? 1 : 0;
        const auto* ping = std::get_if<wire::Ping>(&*header);
        if (says_so && ping != nullptr) client.Send(wire::Pong{ping->number});
      }
    }
    EXPECT_GT(refused, says_so ? 50'000u : 0u);
    EXPECT_LE(PeakResidentBytes(pool_.broker().pid()), size + kMostGrowth);
  }
}

}  // namespace
}  // namespace skerry::testing
