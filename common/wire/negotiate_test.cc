#include "common/wire/negotiate.h"

#include <gtest/gtest.h>

namespace skerry::wire {
namespace {

TEST(Negotiate, PeersSpeakTheNewestVersionThatBothKnow) {
  struct Row {
    VersionRange ours, theirs;
    std::uint32_t agreed;
  };
  for (const Row& row : {Row{{1, 1}, {1, 1}, 1}, Row{{1, 3}, {2, 5}, 3}, Row{{2, 5}, {1, 3}, 3},
                         Row{{1, 9}, {4, 4}, 4}, Row{{1, 1}, {1, 0xFFFFFFFF}, 1}}) {
    const auto agreed = AgreeOnVersion(row.ours, row.theirs, "client");
    ASSERT_TRUE(agreed) << agreed.error().message;
    EXPECT_EQ(*agreed, row.agreed);
  }
}

TEST(Negotiate, AnOlderPeerIsToldBothRangesAndToBeUpgraded) {
  EXPECT_EQ(AgreeOnVersion({3, 5}, {1, 2}, "worker").error().message,
            "this worker speaks wire versions 1 to 2, this broker 3 to 5: upgrade the worker");
}

TEST(Negotiate, ANewerPeerIsToldBothRangesAndToUpgradeTheBroker) {
  EXPECT_EQ(AgreeOnVersion({1, 2}, {3, 7}, "client").error().message,
            "this client speaks wire versions 3 to 7, this broker 1 to 2: upgrade the broker");
}

TEST(Negotiate, AbsurdRangesAreRefusedAsSuch) {
  for (const VersionRange absurd :
       {VersionRange{0, 0}, VersionRange{0, 1}, VersionRange{2, 1}, VersionRange{0xFFFFFFFF, 1}}) {
    const auto agreed = AgreeOnVersion({1, 1}, absurd, "client");
    ASSERT_FALSE(agreed);
    EXPECT_NE(agreed.error().message.find("is no range"), std::string::npos) << agreed.error().message;
  }
  EXPECT_FALSE(AgreeOnVersion({1, 1}, {0xFFFFFFFF, 0xFFFFFFFF}, "client"));
}

TEST(Negotiate, CapabilitiesAreThoseOfBothAndUnknownOnesAreIgnored) {
  EXPECT_EQ(CommonCapabilities({"a", "b", "c"}, {"c", "from the future", "a"}),
            (std::vector<std::string>{"a", "c"}));
  EXPECT_TRUE(CommonCapabilities({}, {"a"}).empty());
  EXPECT_TRUE(CommonCapabilities({"a"}, {}).empty());
}

TEST(CheckAgreed, TakesOnlyAVersionOfOursAndSaysWhichSideToUpgrade) {
  EXPECT_TRUE(CheckAgreed({2, 3}, 2, "client"));
  EXPECT_TRUE(CheckAgreed({2, 3}, 3, "client"));
  EXPECT_EQ(CheckAgreed({2, 3}, 4, "worker").error().message,
            "the broker wants to speak wire version 4, this worker speaks 2 to 3: upgrade the worker");
  EXPECT_EQ(CheckAgreed({2, 3}, 1, "client").error().message,
            "the broker wants to speak wire version 1, this client speaks 2 to 3: upgrade the broker");
}

}  // namespace
}  // namespace skerry::wire
