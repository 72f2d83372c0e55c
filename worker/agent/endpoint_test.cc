#include "worker/agent/endpoint.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

TEST(CheckLocalEndpoint, AcceptsThisMachinesOwn) {
  for (const char* url : {"ipc:///tmp/w", "ipc://@abstract", "tcp://127.0.0.1:7702", "tcp://127.9.8.7:1",
                          "tcp://localhost:65535", "tcp://[::1]:7702"}) {
    EXPECT_TRUE(CheckLocalEndpoint(url)) << url;
  }
}

TEST(CheckLocalEndpoint, RefusesEverythingElse) {
  for (const char* url : {"",
                          "ipc://",
                          "tcp://",
                          "tcp://10.0.0.1:7702",
                          "tcp://0.0.0.0:7702",
                          "tcp://*:7702",
                          "tcp://[::]:7702",
                          "tcp://example.org:7702",
                          "tcp://127.0.0.1.example.org:7702",
                          "tcp://localhost.example.org:1",
                          "tcp://127.0.0.1",
                          "tcp://127.0.0.1:",
                          "tcp://127.0.0.1:0",
                          "tcp://127.0.0.1:65536",
                          "tcp://127.0.0.1:1x",
                          "tcp://127.1:80",
                          "tcp://eth0;127.0.0.1:5",
                          "udp://127.0.0.1:1",
                          "inproc://x",
                          "pgm://127.0.0.1:1",
                          "127.0.0.1:7702"}) {
    const auto status = CheckLocalEndpoint(url);
    ASSERT_FALSE(status) << url;
    EXPECT_NE(status.error().message.find("ipc://"), std::string::npos) << "says what is allowed";
  }
}

}  // namespace
}  // namespace skerry::agent
