#include "common/endpoint.h"

#include <gtest/gtest.h>

namespace skerry {
namespace {

Reach ReachOfGood(const char* endpoint) {
  const auto reach = ReachOf(endpoint);
  EXPECT_TRUE(reach) << endpoint;
  return reach.value_or(Reach::kNetwork);
}

TEST(Endpoint, ASocketFileIsReachedByWhomItsPermissionsLetIn) {
  for (const char* endpoint : {"ipc:///run/skerry/clients", "ipc://relative"}) {
    EXPECT_EQ(ReachOfGood(endpoint), Reach::kSocketFile) << endpoint;
  }
}

TEST(Endpoint, LoopbackIsReachedByThisMachine) {
  for (const char* endpoint : {"tcp://127.0.0.1:1", "tcp://127.255.0.9:65535", "tcp://[::1]:7001",
                               "tcp://localhost:7001", "tcp://127.0.0.1:*"}) {
    EXPECT_EQ(ReachOfGood(endpoint), Reach::kLoopback) << endpoint;
  }
}

TEST(Endpoint, EverythingElseOfTcpIsReachedByOthers) {
  for (const char* endpoint :
       {"tcp://0.0.0.0:1", "tcp://*:1", "tcp://10.0.0.1:1", "tcp://128.0.0.1:1", "tcp://12.7.0.0.1:1",
        "tcp://[::]:1", "tcp://127.0.0.1.example.com:1", "tcp://127.0.0:1", "tcp://127.0.0.256:1",
        "tcp://127.1:80", "tcp://localhost.example.com:1", "tcp://broker:7001", "tcp://eth0:7001",
        "tcp://[::ffff:127.0.0.1]:1"}) {
    EXPECT_EQ(ReachOfGood(endpoint), Reach::kNetwork) << endpoint;
  }
}

TEST(Endpoint, WhatIsNoneIsRefused) {
  for (const char* endpoint :
       {"tcp://127.0.0.1", "tcp://127.0.0.1:", "tcp://127.0.0.1:0", "tcp://127.0.0.1:65536",
        "tcp://127.0.0.1:1x", "tcp://eth0;127.0.0.1:5", "tcp://[::1:5", "tcp://[x]:5", "tcp://a b:5",
        "tcp://:1", "ipc://", "inproc://x", "udp://127.0.0.1:1", "127.0.0.1:1", ""}) {
    const Status status = CheckEndpoint(endpoint);
    ASSERT_FALSE(status) << endpoint;
    EXPECT_NE(status.error().message.find("ipc://"), std::string::npos) << "says what is allowed";
  }
}

TEST(Endpoint, AnIpcPathOfTheLongestLengthPassesAndOneByteMoreIsRefused) {
  EXPECT_TRUE(CheckEndpoint("ipc://" + std::string(107, 'x')));
  EXPECT_FALSE(CheckEndpoint("ipc://" + std::string(108, 'x')));
}

}  // namespace
}  // namespace skerry
