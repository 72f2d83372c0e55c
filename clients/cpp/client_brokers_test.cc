// A client of several real brokers, each with a fake worker.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <map>
#include <set>

#include "clients/cpp/client.h"
#include "clients/cpp/testing/processes.h"

namespace skerry {
namespace {

class ClientOfSeveral : public ::testing::Test {
 protected:
  void StartAll() {
    for (auto& broker : brokers_) {
      broker.StartBroker();
      broker.StartWorker(4);
    }
  }
  static std::unique_ptr<Client> Connect(ClientOptions options) {
    auto client = Client::Connect(std::move(options));
    if (client) return std::move(*client);
    ADD_FAILURE() << client.error().message;
    return nullptr;
  }
  ClientOptions OverBoth() const {
    ClientOptions options;
    options.brokers = {brokers_[0].clients(), brokers_[1].clients()};
    return options;
  }
  /// Keeps the client busy with jobs until `count` have ended; `at` is called as often as one has.
  template <class At>
  void Run(Client& client, int count, At at) {
    int next = 0;
    for (const TimePoint until = SteadyClock::now() + Millis(90'000);
         finals_.size() < static_cast<std::size_t>(count) && SteadyClock::now() < until;) {
      while (next < count) {
        JobRequest request;
        request.spec.id = JobId("j" + std::to_string(next));
        request.code = "sleep 5;echo";
        request.input = std::to_string(next);
        const auto taken = client.Submit(request);
        ASSERT_TRUE(taken) << taken.error().message;
        if (*taken == SubmitResult::kFull) break;
        ++next;
      }
      auto event = client.Next(Millis(100));
      if (!event) continue;
      if (const auto* failed = std::get_if<LinkFailed>(&*event)) FAIL() << failed->error.message;
      const auto* final = std::get_if<JobFinal>(&*event);
      if (final == nullptr) continue;
      EXPECT_TRUE(finals_.emplace(final->id.str(), final->outcome.value).second) << final->id.str();
      at(finals_.size());
    }
    EXPECT_EQ(finals_.size(), static_cast<std::size_t>(count));
    for (const auto& [id, value] : finals_) EXPECT_EQ("j" + value, id);
    // Nothing comes late.
    while (auto event = client.Next(Millis(300))) EXPECT_FALSE(std::holds_alternative<JobFinal>(*event));
  }

  std::array<testing::Processes, 2> brokers_;
  std::map<std::string, std::string> finals_;
};

TEST_F(ClientOfSeveral, SpreadsItsJobsOverThem) {
  StartAll();
  std::map<std::string, int> placed;
  ClientOptions options = OverBoth();
  options.on_placed = [&](const std::vector<JobPlacement>& placements) {
    for (const JobPlacement& placement : placements) ++placed[placement.endpoint];
  };
  auto client = Connect(std::move(options));
  ASSERT_TRUE(client);
  Run(*client, 400, [](std::size_t) {});
  client.reset();
  EXPECT_GT(placed[brokers_[0].clients()], 50);
  EXPECT_GT(placed[brokers_[1].clients()], 50);
}

TEST_F(ClientOfSeveral, OneThatIsKilledUnderLoadAndStartedAgainCostsNoJobItsOneFinal) {
  StartAll();
  ClientOptions options = OverBoth();
  options.failover_after = Millis(1'500);
  options.max_in_flight = 64;
  auto client = Connect(std::move(options));
  ASSERT_TRUE(client);
  Run(*client, 2'000, [&](std::size_t ended) {
    if (ended == 100) brokers_[0].KillBroker();
    if (ended == 1'000) brokers_[0].StartBroker();
    if (ended == 1'500) brokers_[1].KillBroker();
  });
  EXPECT_GT(client->counts().moved, 0u);
}

TEST_F(ClientOfSeveral, OneThatHangsForAWhileHasItsFinalsDroppedAndCounted) {
  StartAll();
  ClientOptions options = OverBoth();
  options.failover_after = Millis(1'500);
  options.max_in_flight = 64;
  auto client = Connect(std::move(options));
  ASSERT_TRUE(client);
  Run(*client, 3'000, [&](std::size_t ended) {
    if (ended == 100) brokers_[0].SignalBroker(SIGSTOP);
    if (ended == 1'500) brokers_[0].SignalBroker(SIGCONT);
  });
  EXPECT_GT(client->counts().moved, 0u);
  for (int tries = 0; tries < 100 && client->counts().late_finals < client->counts().moved; ++tries)
    (void)client->Next(Millis(100));
  EXPECT_GT(client->counts().late_finals, 0u);
  EXPECT_LE(client->counts().late_finals, client->counts().moved);
}

TEST_F(ClientOfSeveral, ConnectsWhenOneOfThemAnswers) {
  brokers_[1].StartBroker();
  brokers_[1].StartWorker(4);
  auto client = Connect(OverBoth());
  ASSERT_TRUE(client);
  Run(*client, 50, [](std::size_t) {});
}

TEST_F(ClientOfSeveral, AJobGivenToABrokerWithoutWorkersEndsAtTheOtherAndRunsOnce) {
  brokers_[0].StartBroker();  // its workers know only the other
  brokers_[1].StartBroker();
  brokers_[1].StartWorker(4);
  ClientOptions options = OverBoth();
  options.max_in_flight = 40;
  std::set<std::string> placed;
  options.on_placed = [&](const std::vector<JobPlacement>& placements) {
    for (const JobPlacement& placement : placements) placed.insert(placement.endpoint);
  };
  auto client = Connect(std::move(options));
  ASSERT_TRUE(client);
  Run(*client, 200, [](std::size_t) {});
  EXPECT_EQ(client->counts().moved, 0u);
  EXPECT_EQ(client->counts().late_finals, 0u);
  EXPECT_GT(client->counts().refused, 0u);
  client.reset();
  EXPECT_EQ(placed.size(), 2u) << "or nothing was given back";
}

TEST_F(ClientOfSeveral, SaysOfEachWhyItCannotBeReachedWhenNoneCan) {
  ClientOptions options = OverBoth();
  options.connect_timeout = Millis(300);
  const auto client = Client::Connect(std::move(options));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().kind, ErrorKind::kUnavailable);
  for (const auto& broker : brokers_) {
    EXPECT_NE(client.error().message.find(broker.clients()), std::string::npos) << client.error().message;
  }
}

TEST_F(ClientOfSeveral, FollowsAFileThatChangesWhileItRuns) {
  StartAll();
  const testing::TestFolder folder;
  const std::string file = folder / "brokers";
  std::ofstream(file) << brokers_[0].clients() << "\n";
  std::atomic<int> at_second = 0;
  ClientOptions options;
  options.brokers = {"file:" + file};
  options.max_in_flight = 32;
  options.on_placed = [&](const std::vector<JobPlacement>& placements) {
    for (const JobPlacement& placement : placements) at_second += placement.endpoint == brokers_[1].clients();
  };
  auto client = Connect(std::move(options));
  ASSERT_TRUE(client);
  Run(*client, 3'000, [&](std::size_t ended) {
    if (ended == 50) {
      EXPECT_EQ(at_second, 0);
      std::ofstream(file) << "# moved\n" << brokers_[1].clients() << "\n";
    }
  });
  EXPECT_GT(at_second, 0);
}

TEST_F(ClientOfSeveral, UsesAllAddressesOfAName) {
  // One port of our own on two addresses of loopback; the resolver is the test's.
  const std::string port = std::to_string(20'000 + ::getpid() % 30'000);
  for (std::size_t i = 0; i < brokers_.size(); ++i) {
    brokers_[i].StartBroker(
        {"--clients", "tcp://127.0.0." + std::to_string(i + 1) + ":" + port, "--plain-loopback"});
    brokers_[i].StartWorker(4);
  }
  std::set<std::string> used;
  ClientOptions options;
  options.brokers = {"tcp://localhost:" + port};
  options.lookups.resolve = [](const std::string& host) -> Result<std::vector<std::string>> {
    EXPECT_EQ(host, "localhost");
    return std::vector<std::string>{"127.0.0.2", "127.0.0.1"};
  };
  options.on_placed = [&](const std::vector<JobPlacement>& placements) {
    for (const JobPlacement& placement : placements) used.insert(placement.endpoint);
  };
  auto client = Connect(std::move(options));
  ASSERT_TRUE(client);
  Run(*client, 300, [](std::size_t) {});
  client.reset();
  EXPECT_EQ(used, (std::set<std::string>{"tcp://127.0.0.1:" + port, "tcp://127.0.0.2:" + port}));
}

}  // namespace
}  // namespace skerry
