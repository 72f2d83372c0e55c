#include "common/endpoint.h"

#include <gtest/gtest.h>

namespace skerry {
namespace {

TEST(Endpoint, IpcAndLoopbackAreAllowed) {
  for (const char* endpoint :
       {"ipc:///run/skerry/clients", "ipc://relative", "tcp://127.0.0.1:1", "tcp://127.255.0.9:65535",
        "tcp://[::1]:7001", "tcp://localhost:7001", "tcp://127.0.0.1:*"}) {
    EXPECT_TRUE(CheckEndpoint(endpoint)) << endpoint;
  }
}

TEST(Endpoint, EverythingThatAnotherMachineMayReachOrThatIsNotAnEndpointIsRefused) {
  for (const char* endpoint : {"tcp://0.0.0.0:1",
                               "tcp://*:1",
                               "tcp://10.0.0.1:1",
                               "tcp://128.0.0.1:1",
                               "tcp://12.7.0.0.1:1",
                               "tcp://[::]:1",
                               "tcp://127.0.0.1.example.com:1",
                               "tcp://127.0.0:1",
                               "tcp://127.0.0.256:1",
                               "tcp://127.0.0.1",
                               "tcp://127.0.0.1:",
                               "tcp://127.0.0.1:0",
                               "tcp://127.0.0.1:65536",
                               "tcp://127.0.0.1:1x",
                               "tcp://127.1:80",
                               "tcp://eth0;127.0.0.1:5",
                               "tcp://localhost.example.com:1",
                               "tcp://:1",
                               "ipc://",
                               "inproc://x",
                               "udp://127.0.0.1:1",
                               "127.0.0.1:1",
                               ""}) {
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
