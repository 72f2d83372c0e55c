#include "broker/door/connection_book.h"

#include <gtest/gtest.h>

namespace skerry::broker {
namespace {

using Gone = std::vector<int>;

class Connections : public ::testing::Test {
 protected:
  Gone Accept(int descriptor) { return book_.OnAccepted(descriptor, now_); }

  ConnectionBook book_{{3, 5, Millis(5'000)}};
  TimePoint now_;
};

TEST_F(Connections, AsManyAsAllowedMayBeSilentAndOneMoreEndsTheOldest) {
  for (const int descriptor : {10, 11, 12}) EXPECT_EQ(Accept(descriptor), Gone{});
  EXPECT_EQ(Accept(13), Gone{10});
  EXPECT_EQ(Accept(14), Gone{11});
  EXPECT_EQ(book_.fresh(), 3u);
  EXPECT_EQ(book_.connections(), 3u);
}

TEST_F(Connections, ThatHaveSpokenAreNotAmongTheSilent) {
  for (const int descriptor : {10, 11, 12}) Accept(descriptor);
  book_.OnSpoke(10, nullptr);
  EXPECT_EQ(Accept(13), Gone{});
  EXPECT_EQ(Accept(14), Gone{11});
}

TEST_F(Connections, ThatAreGoneMakeRoom) {
  for (const int descriptor : {10, 11, 12}) Accept(descriptor);
  book_.OnGone(11);
  EXPECT_EQ(Accept(13), Gone{});
  EXPECT_EQ(Accept(14), Gone{10});
}

TEST_F(Connections, OlderThanAHandshakeHaveDoneTheirs) {
  for (const int descriptor : {10, 11, 12}) Accept(descriptor);
  now_ += Millis(4'999);
  EXPECT_EQ(Accept(13), Gone{10});
  now_ += Millis(1);
  EXPECT_EQ(Accept(14), Gone{});
  EXPECT_EQ(book_.fresh(), 2u);
}

TEST_F(Connections, AreBoundedTogetherAndTheNewOneGoesWhereAllOthersHaveSpoken) {
  for (const int descriptor : {10, 11, 12, 13, 14}) {
    EXPECT_EQ(Accept(descriptor), Gone{});
    book_.OnSpoke(descriptor, nullptr);
  }
  EXPECT_EQ(Accept(15), Gone{15});
  EXPECT_EQ(book_.connections(), 5u);
  book_.OnGone(12);
  EXPECT_EQ(Accept(16), Gone{});
}

TEST_F(Connections, WhoseDescriptorIsUsedAgainAreOtherOnes) {
  Accept(10);
  book_.OnGone(10);
  Accept(11);
  Accept(12);
  Accept(10);                       // another connection now, and the youngest
  EXPECT_EQ(Accept(13), Gone{11});  // not 10, whose first life came before
}

TEST_F(Connections, WhoseEndWasNotToldAreNotCountedTwice) {
  Accept(10);
  Accept(10);
  EXPECT_EQ(book_.connections(), 1u);
  EXPECT_EQ(book_.fresh(), 1u);
}

TEST_F(Connections, ThatAreFreshAreToldUntilTheirTimeIsOver) {
  for (const int descriptor : {10, 11}) Accept(descriptor);
  now_ += Millis(1'000);
  Accept(12);
  book_.OnSpoke(10, nullptr);
  EXPECT_EQ(book_.FreshOnes(now_), (Gone{11, 12}));
  now_ += Millis(3'999);
  EXPECT_EQ(book_.FreshOnes(now_), (Gone{11, 12}));
  now_ += Millis(1);
  EXPECT_EQ(book_.FreshOnes(now_), Gone{12});
  book_.OnGone(12);
  EXPECT_EQ(book_.FreshOnes(now_), Gone{});
  EXPECT_EQ(book_.fresh(), 0u) << "and nobody need look again";
}

TEST_F(Connections, OfAKeyThatIsNotAllowedAreUnwelcomeAndThoseWithoutAKeyNever) {
  const auto key = [](const std::string& name) {
    return std::make_shared<const Identity>(Identity{Side::kClient, name, name});
  };
  for (const int descriptor : {10, 11, 12, 13}) Accept(descriptor);
  book_.OnSpoke(10, key("acme"));
  book_.OnSpoke(11, key("evil"));
  book_.OnSpoke(12, nullptr);
  const auto allowed = [](const Identity& who) { return who.name != "evil"; };
  EXPECT_EQ(book_.Unwelcome(allowed), Gone{11});
  book_.OnGone(11);
  Accept(11);
  EXPECT_EQ(book_.Unwelcome(allowed), Gone{}) << "it is somebody else's now";
}

TEST_F(Connections, ThatAreUnknownAreIgnored) {
  book_.OnGone(99);
  book_.OnSpoke(99, nullptr);
  book_.OnSpoke(-1, nullptr);
  EXPECT_EQ(book_.connections(), 0u);
  EXPECT_EQ(book_.fresh(), 0u);
}

}  // namespace
}  // namespace skerry::broker
