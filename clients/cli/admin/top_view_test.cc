#include "clients/cli/admin/top_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "clients/cli/admin/terminal_text.h"

namespace skerry::cli {
namespace {

Of<wire::BrokerRow> Broker(std::uint64_t up_ms, std::uint64_t ok, std::uint64_t timeouts,
                           const std::string& endpoint = "b1") {
  Of<wire::BrokerRow> broker{endpoint, {}};
  broker.row.up_ms = up_ms;
  broker.row.ok = ok;
  broker.row.errors.entries = {{"TIMEOUT", timeouts}};
  broker.row.trips.entries = {{"timeoutMs", timeouts}};
  return broker;
}

wire::TenantRow Tenant(const std::string& name, std::uint64_t ok) {
  wire::TenantRow row;
  row.name = TenantId(name);
  row.ok = ok;
  return row;
}

PoolSample Crowded() {
  PoolSample sample;
  sample.brokers = {Broker(10'000, 100, 5)};
  for (int i = 100; i < 200; ++i) {
    sample.tenants.push_back(Tenant("tenant\x1b[31m" + std::to_string(i), static_cast<std::uint64_t>(i)));
    Of<wire::WorkerRow> worker{"b1", {}};
    worker.row.id = SessionId("worker" + std::to_string(i));
    worker.row.state = i == 150 ? "away" : "serving";
    sample.workers.push_back(std::move(worker));
  }
  return sample;
}

TEST(TopView, RatesAreTheDifferencesOfTwoLooks) {
  PoolSample before;
  before.brokers = {Broker(10'000, 100, 5)};
  PoolSample now;
  now.brokers = {Broker(12'000, 500, 6)};
  const TopView view(now, &before);
  EXPECT_DOUBLE_EQ(view.rates().seconds, 2);
  EXPECT_EQ(view.rates().ok, 400u);
  const auto json = nlohmann::json::parse(view.Json());
  EXPECT_EQ(json.at("okPerSecond"), 200);
  EXPECT_EQ(json.at("errorsPerSecond").at("TIMEOUT"), 0.5);
  EXPECT_EQ(json.at("tripsPerSecond").at("timeoutMs"), 0.5);
  EXPECT_EQ(json.at("brokers").at(0).at("ok"), 500);
  EXPECT_EQ(json.at("brokers").at(0).at("broker"), "b1");
}

TEST(TopView, TheFirstLookShowsMeansSinceTheBrokersBegan) {
  PoolSample now;
  now.brokers = {Broker(10'000, 100, 5)};
  const TopView view(now, nullptr);
  EXPECT_EQ(nlohmann::json::parse(view.Json()).at("okPerSecond"), 10);
  EXPECT_NE(view.Lines(kAnySize)[2].find("mean since the brokers began"), std::string::npos);
}

TEST(TopView, ABrokerThatWasStartedAnewCountsFromZeroAgain) {
  PoolSample before;
  before.brokers = {Broker(10'000, 100, 5), Broker(10'000, 10, 0, "b2")};
  PoolSample now;
  now.brokers = {Broker(1'000, 30, 0), Broker(11'000, 20, 0, "b2")};
  const TopView view(now, &before);
  EXPECT_EQ(view.rates().ok, 40u);
  EXPECT_EQ(view.rates().errors.entries.size(), 0u);
}

Away Missing(const std::string& broker) {
  return {broker, {ErrorKind::kUnavailable, "no broker answers on " + broker}};
}

TEST(TopView, ABrokerThatComesBackCountsInNoRateOfThatLook) {
  PoolSample before;
  before.brokers = {Broker(10'000, 100, 5)};
  before.away = {Missing("b2")};
  before.tenants = {Tenant("acme", 100)};
  PoolSample now;
  now.brokers = {Broker(11'000, 120, 5), Broker(90'000, 9'000, 0, "b2")};
  now.tenants = {Tenant("acme", 9'120)};
  const TopView view(now, &before);
  EXPECT_EQ(view.rates().ok, 20u);
  EXPECT_DOUBLE_EQ(view.rates().seconds, 1);
  for (const auto& line : view.Lines(kAnySize)) {
    EXPECT_FALSE(line.starts_with("acme    9,0")) << line;
  }
}

TEST(TopView, WhoIsAwayIsNamedBesideTheOthersAndWhereThereAreNone) {
  PoolSample now;
  now.brokers = {Broker(10'000, 100, 5)};
  now.away = {Missing("b2")};
  const auto lines = TopView(now, nullptr).Lines({120, 16});
  EXPECT_NE(std::find(lines.begin(), lines.end(), "away: no broker answers on b2"), lines.end());
  const auto json = nlohmann::json::parse(TopView(now, nullptr).Json());
  EXPECT_EQ(json.at("away"), nlohmann::json::parse(R"([{"broker":"b2","away":"no broker answers on b2"}])"));
  const PoolSample before = now;
  now.brokers.clear();
  now.away = {Missing("b1"), Missing("b2"), Missing("b3"), Missing("b4"), Missing("b5")};
  const auto none = TopView(now, &before).Lines({120, 24});
  EXPECT_NE(std::find(none.begin(), none.end(), "away: … 2 more"), none.end());
  EXPECT_EQ(nlohmann::json::parse(TopView(now, &before).Json()).at("okPerSecond"), 0);
}

TEST(TopView, AWorkerOfTwoBrokersIsOneWorker) {
  PoolSample now;
  now.brokers = {Broker(10'000, 1, 0), Broker(10'000, 1, 0, "b2")};
  for (const auto& [broker, id, slots] :
       {std::tuple("b1", "r/w-1d38c50aba7e4251", 0), std::tuple("b2", "r/w-1d38c50aba7e4251-2", 4),
        std::tuple("b1", "r/w-0000000000000000", 0)}) {
    Of<wire::WorkerRow> worker{broker, {}};
    worker.row.id = SessionId(id);
    worker.row.state = "serving";
    worker.row.slots = static_cast<std::uint64_t>(slots);
    now.workers.push_back(std::move(worker));
  }
  EXPECT_NE(TopView(now, nullptr).Lines(kAnySize)[0].find("workers 2 (1 take jobs)"), std::string::npos);
}

TEST(TopView, SaysHowManyRowsDidNotFitAndShowsAWorkerOnTheSmallestScreen) {
  const PoolSample now = Crowded();
  const auto lines = TopView(now, nullptr).Lines({80, 24});
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const auto& line) { return line.starts_with("… ") && line.ends_with(" more"); }),
            2);
  EXPECT_EQ(lines.back(), "… 96 more") << "behind four workers";
  for (std::size_t rows = 6; rows <= 24; ++rows) {
    std::string text;
    for (const auto& line : TopView(now, nullptr).Lines({40, rows})) text += line + "\n";
    EXPECT_EQ(text.find("worker150") != std::string::npos, rows >= 7) << rows << "\n" << text;
  }
  std::string all;
  for (const auto& line : TopView(now, nullptr).Lines(kAnySize)) all += line + "\n";
  EXPECT_EQ(all.find(" more"), std::string::npos);
}

TEST(TopView, FitsTheTerminalAtEverySize) {
  const PoolSample now = Crowded();
  const TopView view(now, nullptr);
  for (std::size_t rows = 1; rows <= 60; ++rows) {
    for (const std::size_t columns : {1u, 2u, 20u, 80u, 200u}) {
      const auto lines = view.Lines({columns, rows});
      EXPECT_LE(lines.size(), rows);
      for (const auto& line : lines) EXPECT_LE(WidthOf(line), columns) << line;
    }
  }
  EXPECT_EQ(view.Lines({80, 24}).size(), 24u) << "and fills it";
}

TEST(TopView, TheBusiestTenantsAndTheWorkersInTroubleAreThoseThatAreShown) {
  const PoolSample now = Crowded();
  std::string text;
  for (const auto& line : TopView(now, nullptr).Lines({120, 16})) text += line + "\n";
  EXPECT_NE(text.find("tenant?[31m199"), std::string::npos) << text;
  EXPECT_EQ(text.find("tenant?[31m100"), std::string::npos) << text;
  EXPECT_NE(text.find("worker150"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "no name writes an escape sequence";
}

TEST(TopView, APlainTableHasEveryTenantAndWorker) {
  const PoolSample now = Crowded();
  EXPECT_EQ(TopView(now, nullptr).Lines(kAnySize).size(), 4u + 2u + 100u + 2u + 100u);
}

}  // namespace
}  // namespace skerry::cli
