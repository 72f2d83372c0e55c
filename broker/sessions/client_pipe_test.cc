#include "broker/sessions/client_pipe.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry::broker {
namespace {

constexpr Bytes kWindow = Bytes::KiB(64);

class Pipe : public ::testing::Test {
 protected:
  void PushEvent(std::size_t bytes = 10) {
    wire::Event event;
    event.id = JobId("a");
    pipe_.Push(event, {Payload(std::string(bytes, 'x'))});
  }
  void PushFinal(const std::string& id, std::size_t bytes = 10) {
    wire::Final final;
    final.id = JobId(id);
    pipe_.Push(final, {Payload(std::string(bytes, 'x'))}, ++finals_);
  }
  /// The numbers that the window lets through now.
  std::vector<std::uint64_t> Take() {
    std::vector<std::uint64_t> taken;
    while (const auto message = pipe_.TakeNext(kWindow)) {
      std::visit(
          [&](const auto& header) {
            if constexpr (requires { header.seq; }) taken.push_back(header.seq);
          },
          message->header);
    }
    return taken;
  }
  using Numbers = std::vector<std::uint64_t>;
  ClientPipe pipe_;
  std::uint64_t finals_ = 0;
};

TEST_F(Pipe, NumbersItsMessagesFromOneInTheirOrder) {
  PushEvent();
  PushFinal("a");
  PushEvent();
  EXPECT_EQ(Take(), (Numbers{1, 2, 3}));
}

TEST_F(Pipe, SendsNoMoreThanAWindowUntilItsMarkComesBack) {
  for (int i = 0; i < 10; ++i) PushEvent(20 * 1024);
  EXPECT_EQ(Take(), (Numbers{1, 2, 3}));
  EXPECT_LE(pipe_.in_flight_bytes(), kWindow.count());
  EXPECT_TRUE(pipe_.WantsMark(kWindow));
  pipe_.Mark(77);
  EXPECT_FALSE(pipe_.WantsMark(kWindow));
  pipe_.Confirm(78);
  EXPECT_TRUE(Take().empty()) << "a mark that was not made says nothing";
  pipe_.Confirm(77);
  EXPECT_EQ(pipe_.in_flight_bytes(), 0u);
  EXPECT_EQ(Take(), (Numbers{4, 5, 6}));
}

TEST_F(Pipe, AMessageLargerThanTheWindowPassesAlone) {
  PushFinal("a", 1 << 20);
  PushFinal("b", 1 << 20);
  EXPECT_EQ(Take(), (Numbers{1}));
  pipe_.Mark(1);
  pipe_.Confirm(1);
  EXPECT_EQ(Take(), (Numbers{2}));
}

TEST_F(Pipe, BoundsTheNumberOfMessagesInFlightAsWell) {
  for (int i = 0; i < 5'000; ++i) PushEvent(0);
  EXPECT_LT(Take().size(), 2'049u);
}

TEST_F(Pipe, AMarkConfirmsWhatWasBeforeItAndNothingBehind) {
  PushEvent();
  Take();
  pipe_.Mark(1);
  PushEvent();
  Take();
  pipe_.Confirm(1);
  EXPECT_GT(pipe_.in_flight_bytes(), 0u);
  EXPECT_TRUE(pipe_.HasUnmarked());
}

TEST_F(Pipe, ANewLinkGetsWhatWasNotSeenInOrderAndUnderTheOldNumbers) {
  for (int i = 0; i < 4; ++i) PushEvent();
  Take();
  PushEvent(kWindow.count());
  pipe_.Relink(2);
  EXPECT_EQ(Take(), (Numbers{3, 4}));
  pipe_.Mark(5);
  pipe_.Confirm(5);
  EXPECT_EQ(Take(), (Numbers{5}));
}

TEST_F(Pipe, ANewLinkLeavesFinalsToTheLedger) {
  PushFinal("a");
  PushEvent();
  EXPECT_TRUE(pipe_.HasFinal(1));
  pipe_.Relink(0);
  EXPECT_FALSE(pipe_.HasFinal(1));
  EXPECT_EQ(Take(), (Numbers{2}));
}

TEST_F(Pipe, AMarkOfAnEarlierLinkSaysNothing) {
  PushEvent();
  Take();
  pipe_.Mark(9);
  pipe_.Relink(0);
  Take();
  pipe_.Confirm(9);
  EXPECT_GT(pipe_.in_flight_bytes(), 0u);
}

TEST_F(Pipe, ItsBooksAreEmptyWhenAllHasBeenRead) {
  for (int i = 0; i < 3; ++i) {
    PushEvent(100);
    PushFinal("f" + std::to_string(i));
  }
  EXPECT_GT(pipe_.own_bytes(), 0u);
  Take();
  pipe_.Mark(1);
  pipe_.Confirm(1);
  EXPECT_TRUE(pipe_.empty());
  EXPECT_EQ(pipe_.own_bytes() + pipe_.waiting_bytes() + pipe_.in_flight_bytes(), 0u);
  EXPECT_FALSE(pipe_.HasFinal(1));
}

}  // namespace
}  // namespace skerry::broker
