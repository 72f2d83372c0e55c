#include "broker/sessions/submit_gate.h"

#include <gtest/gtest.h>

namespace skerry::broker {
namespace {

constexpr Millis kPatience{50};

RateAsk Ask(const std::string& tenant = "t") {
  return {tenant, {10, 1}, tenant + '\0', {}};
}

class Gate : public ::testing::Test {
 protected:
  std::uint64_t Hold(const std::string& link, std::optional<RateAsk> ask, std::size_t bytes = 0) {
    const wire::Header header = wire::Ping{++next_};
    return gate_.Hold({{Side::kClient, link}, header, {Payload(std::string(bytes, 'x'))}}, std::move(ask),
                      now_);
  }
  /// The links of the messages that are ready, each with R where Redis said yes, - where it said nothing.
  std::string Ready() {
    std::string all;
    std::uint64_t last = 0;
    while (auto ready = gate_.TakeReady()) {
      const std::uint64_t number = std::get<wire::Ping>(ready->message.header).number;
      EXPECT_GT(number, last) << "out of order";
      last = number;
      all += ready->message.from.routing + (ready->verdict ? "R" : "-");
    }
    return all;
  }
  SubmitGate gate_{kPatience};
  TimePoint now_;
  std::uint64_t next_ = 0;
};

TEST_F(Gate, HoldsWhatIsAskedAboutUntilItsVerdictAndWhatIsBehindItOnItsLink) {
  const auto a = Hold("a", Ask());
  Hold("a", std::nullopt);
  const auto b = Hold("b", Ask());
  EXPECT_TRUE(gate_.Holds({Side::kClient, "a"}));
  EXPECT_FALSE(gate_.Holds({Side::kClient, "c"}));
  EXPECT_EQ(Ready(), "");
  EXPECT_TRUE(gate_.Decide(a, {}));
  EXPECT_EQ(Ready(), "aRa-");
  EXPECT_FALSE(gate_.Holds({Side::kClient, "a"}));
  EXPECT_TRUE(gate_.Holds({Side::kClient, "b"}));
  EXPECT_TRUE(gate_.Decide(b, {}));
  EXPECT_EQ(Ready(), "bR");
  EXPECT_EQ(gate_.size(), 0u);
}

TEST_F(Gate, PassesVerdictsOnAsTheyAre) {
  const auto a = Hold("a", Ask());
  gate_.Decide(a, {RateWait{RateOwner::kUser, Millis(7)}});
  const auto ready = gate_.TakeReady();
  ASSERT_TRUE(ready && ready->verdict);
  EXPECT_EQ(ready->verdict->wait, (RateWait{RateOwner::kUser, Millis(7)}));
  EXPECT_EQ(ready->ask->tenant, "t");
}

TEST_F(Gate, AVerdictTwiceOrForNobodyIsNone) {
  EXPECT_FALSE(gate_.Decide(1, {}));
  const auto a = Hold("a", Ask());
  const auto plain = Hold("a", std::nullopt);
  EXPECT_FALSE(gate_.Decide(0, {}));
  EXPECT_FALSE(gate_.Decide(plain, {})) << "nobody asked";
  EXPECT_FALSE(gate_.Decide(plain + 1, {}));
  EXPECT_TRUE(gate_.Decide(a, {}));
  EXPECT_FALSE(gate_.Decide(a, {}));
  EXPECT_EQ(Ready(), "aRa-");
  EXPECT_FALSE(gate_.Decide(a, {}));
}

TEST_F(Gate, WaitsAsLongAsItIsSaidForTheFirstInLine) {
  EXPECT_FALSE(gate_.Deadline());
  const auto a = Hold("a", Ask());
  now_ += Millis(20);
  Hold("b", Ask());
  EXPECT_EQ(gate_.Deadline(), TimePoint() + kPatience);
  gate_.Decide(a, {});
  Ready();
  EXPECT_EQ(gate_.Deadline(), TimePoint() + Millis(20) + kPatience);
}

TEST_F(Gate, OfWhatItGivesUpNothingIsLostAndLateVerdictsCountForNobody) {
  const auto a = Hold("a", Ask());
  const auto b = Hold("b", Ask());
  Hold("a", std::nullopt);
  gate_.Decide(a, {});
  gate_.GiveUp();
  EXPECT_FALSE(gate_.Decide(b, {}));
  EXPECT_EQ(Ready(), "aRb-a-");
  const auto later = Hold("b", Ask());
  EXPECT_FALSE(gate_.Decide(b, {}));
  EXPECT_EQ(Ready(), "") << "a verdict for one before it is none for it";
  EXPECT_TRUE(gate_.Decide(later, {}));
  EXPECT_EQ(Ready(), "bR");
}

TEST_F(Gate, HasRoomForSoManyMessagesAndNotOneMore) {
  for (std::size_t i = 0; i < SubmitGate::kMaxMessages; ++i) {
    ASSERT_TRUE(gate_.HasRoom()) << i;
    Hold("a", Ask());
  }
  EXPECT_FALSE(gate_.HasRoom());
  gate_.Decide(1, {});
  Ready();
  EXPECT_TRUE(gate_.HasRoom());
}

TEST_F(Gate, HasRoomForSoManyBytes) {
  Hold("a", Ask(), SubmitGate::kMaxBytes.count() - 1024 - 1);
  EXPECT_TRUE(gate_.HasRoom());
  Hold("a", Ask());
  EXPECT_FALSE(gate_.HasRoom());
  gate_.GiveUp();
  Ready();
  EXPECT_TRUE(gate_.HasRoom());
}

}  // namespace
}  // namespace skerry::broker
