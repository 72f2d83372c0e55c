// However much a hostile peer makes the broker say, the log stays small, and tells what it held back.
#include <gtest/gtest.h>

#include <sstream>

#include "broker/testing/core_harness.h"
#include "common/logging.h"

namespace skerry::broker {
namespace {

using testing::ClientPeer;
using testing::CoreHarness;
using testing::WorkerPeer;

class LogFlood : public ::testing::Test {
 protected:
  ~LogFlood() override { (void)InitLogging("test", "off"); }

  /// The lines that `act` makes the broker write.
  template <class Act>
  static std::vector<std::string> LinesOf(Act&& act) {
    EXPECT_TRUE(InitLogging("broker", "info"));
    ::testing::internal::CaptureStderr();
    act();
    std::istringstream text(::testing::internal::GetCapturedStderr());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(LogFlood, OfBrokenMessagesIsHeldBackAndCounted) {
  CoreHarness broker;
  const auto lines = LinesOf([&] {
    for (int i = 0; i < 20'000; ++i)
      broker.core.OnMalformed(ClientPeer("c"), std::string(10'000, '\n'), broker.now);
  });
  EXPECT_GE(lines.size(), 50u);
  EXPECT_LT(lines.size(), 200u);
  for (const std::string& line : lines) EXPECT_LT(line.size(), 4'000u);
}

TEST_F(LogFlood, OfAClientThatComesAndGoesIsHeldBackAndOtherKindsOfLinesAreNot) {
  CoreHarness broker;
  const auto lines = LinesOf([&] {
    for (int i = 0; i < 5'000; ++i) {
      broker.ConnectClient("c" + std::to_string(i), "s" + std::to_string(i));
      broker.Say(ClientPeer("c" + std::to_string(i)), wire::Bye{});
    }
    broker.ConnectWorker("w", 1);
  });
  EXPECT_LT(lines.size(), 500u);
  EXPECT_NE(lines.back().find("worker connected"), std::string::npos) << lines.back();
}

TEST_F(LogFlood, OfFinalsForLeasesThatAWorkerDoesNotHoldIsHeldBack) {
  CoreHarness broker;
  broker.ConnectWorker("w", 1);
  const auto lines = LinesOf([&] {
    for (std::uint64_t i = 0; i < 20'000; ++i) broker.FinishOk(WorkerPeer("w"), LeaseId(i + 1));
  });
  EXPECT_LT(lines.size(), 250u);
}

}  // namespace
}  // namespace skerry::broker
