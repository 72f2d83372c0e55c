#include "broker/door/unfinished_messages.h"

#include <gtest/gtest.h>

#include <map>

namespace skerry::broker {
namespace {

using Among = UnfinishedMessages::Among;
using Gone = std::vector<int>;

class Unfinished : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kMost = 8u << 20, kTogether = 20u << 20;

  void Open(const Gone& descriptors) {
    for (const int descriptor : descriptors) {
      messages_.OnOpened(descriptor);
      read_[descriptor] = 100;  // its handshake
    }
    Look();
  }
  Gone Look(Among among = Among::kAll) {
    Gone gone;
    looks_ = 0;
    const auto surplus = messages_.Look(among, [this](int descriptor) -> std::optional<std::uint64_t> {
      ++looks_;
      const auto found = read_.find(descriptor);
      return found == read_.end() ? std::nullopt : std::optional(found->second);
    });
    for (const auto& one : surplus) {
      gone.push_back(one.descriptor);
      last_ = one;
    }
    return gone;
  }
  /// A look, what there was to deliver (nothing, of these), and the next look.
  Gone LookReadAndLook() {
    Gone gone = Look();
    messages_.OnReadToEnd();
    for (const int descriptor : Look()) gone.push_back(descriptor);
    return gone;
  }

  UnfinishedMessages messages_{{Bytes(kMost), Bytes(kTogether)}};
  std::map<int, std::uint64_t> read_;
  int looks_ = 0;
  UnfinishedMessages::Surplus last_;
};

TEST_F(Unfinished, AsLargeAsAllowedMayStayAndAByteMoreMustGo) {
  Open({10, 11});
  read_[10] += kMost;
  EXPECT_EQ(LookReadAndLook(), Gone{});
  read_[10] += 1;
  messages_.OnProved(10, "evil");
  EXPECT_EQ(LookReadAndLook(), Gone{10});
  EXPECT_EQ(last_.held, Bytes(kMost + 1));
  EXPECT_EQ(last_.owner, "evil");
  EXPECT_EQ(LookReadAndLook(), Gone{}) << "it is out of the books";
}

TEST_F(Unfinished, IsWhatComesWithoutAMessageAndNotWhatComesInMany) {
  Open({10});
  for (int message = 0; message < 20; ++message) {
    read_[10] += kMost;
    EXPECT_EQ(LookReadAndLook(), Gone{}) << message;
    messages_.OnDelivered(10);
    EXPECT_EQ(Look(), Gone{});
  }
  read_[10] += kMost + 1;
  EXPECT_EQ(LookReadAndLook(), Gone{10});
}

TEST_F(Unfinished, IsNotToldFromWholeMessagesBeforeTheSocketWasReadToItsEnd) {
  Open({10});
  read_[10] += 100 * kMost;
  for (int look = 0; look < 5; ++look) EXPECT_EQ(Look(), Gone{});
  messages_.OnDelivered(10);
  messages_.OnReadToEnd();
  EXPECT_EQ(Look(), Gone{}) << "they were whole";
}

TEST_F(Unfinished, IsNotWhatCameAfterTheSocketWasRead) {
  Open({10});
  messages_.OnReadToEnd();
  read_[10] += 100 * kMost;
  EXPECT_EQ(Look(), Gone{}) << "these may be whole messages that wait";
  messages_.OnReadToEnd();
  EXPECT_EQ(Look(), Gone{10}) << "they were none";
}

TEST_F(Unfinished, IsSeenThoughItBeginsBehindAMessageThatIsWhole) {
  Open({10});
  messages_.OnDelivered(10);
  read_[10] += 3;
  EXPECT_EQ(LookReadAndLook(), Gone{});
  read_[10] += kMost + 1;
  EXPECT_EQ(LookReadAndLook(), Gone{10});
}

TEST_F(Unfinished, AreBoundedTogetherAndTheLargestOfWhoHoldsMostGoes) {
  Open({10, 11, 12, 13});
  messages_.OnProved(10, "polite");
  for (const int descriptor : {11, 12, 13}) messages_.OnProved(descriptor, "evil");
  read_[10] += kMost;
  for (const int descriptor : {11, 12, 13}) read_[descriptor] += kTogether / 5;
  EXPECT_EQ(LookReadAndLook(), Gone{}) << "exactly the bound";
  read_[12] += 1;
  EXPECT_EQ(LookReadAndLook(), Gone{12});
  EXPECT_EQ(LookReadAndLook(), Gone{}) << "there is room again";
}

TEST_F(Unfinished, ThatHaveTheirEndCountNoMoreTogether) {
  Open({10, 11, 12});
  for (const int descriptor : {10, 11}) read_[descriptor] += kMost;
  EXPECT_EQ(LookReadAndLook(), Gone{});
  messages_.OnDelivered(10);
  read_[12] += kMost;
  EXPECT_EQ(LookReadAndLook(), Gone{});
}

TEST_F(Unfinished, OfConnectionsByWhichLittleComesAreLookedAtSeldom) {
  Open({10, 11, 12});
  EXPECT_FALSE(messages_.busy());
  read_[11] += UnfinishedMessages::kBusyFrom.count() - 1;
  Look();
  EXPECT_FALSE(messages_.busy());
  read_[11] += 1;
  Look();
  EXPECT_TRUE(messages_.busy());
  Look(Among::kBusy);
  EXPECT_EQ(looks_, 1);
  messages_.OnDelivered(11);
  Look(Among::kBusy);
  EXPECT_FALSE(messages_.busy());
}

TEST_F(Unfinished, OfAConnectionThatDeliversAndSpeaksOnAreWorthALookSoon) {
  Open({10});
  messages_.OnDelivered(10);
  read_[10] += UnfinishedMessages::kBusyFrom.count();
  Look();
  EXPECT_TRUE(messages_.busy());
}

TEST_F(Unfinished, OfADescriptorThatIsUsedAgainAreAnothers) {
  Open({10});
  read_[10] += kMost;
  LookReadAndLook();
  read_[10] = 5;  // its end was not told
  EXPECT_EQ(LookReadAndLook(), Gone{});
  read_[10] += kMost;
  EXPECT_EQ(LookReadAndLook(), Gone{});
  read_[10] += 1;
  EXPECT_EQ(LookReadAndLook(), Gone{10});
  Open({10});
  read_[10] += kMost;
  EXPECT_EQ(LookReadAndLook(), Gone{});
}

TEST_F(Unfinished, OfConnectionsThatAreUnknownOrGoneAreIgnored) {
  messages_.OnDelivered(99);
  messages_.OnProved(99, "nobody");
  messages_.OnGone(99);
  EXPECT_TRUE(messages_.empty());
  Open({10});
  read_.erase(10);  // closed; its end will be told
  EXPECT_EQ(LookReadAndLook(), Gone{});
  messages_.OnGone(10);
  EXPECT_TRUE(messages_.empty());
}

}  // namespace
}  // namespace skerry::broker
