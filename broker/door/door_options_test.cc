#include "broker/door/door_options.h"

#include <gtest/gtest.h>

namespace skerry::broker {
namespace {

DoorOptions WithKeys() {
  DoorOptions options;
  options.key_file = "broker.key";
  options.authorized_file = "authorized.toml";
  return options;
}

TEST(DoorOptions, WithoutKeysOnlySocketFilesAreServed) {
  const DoorOptions options;
  EXPECT_TRUE(options.Check("ipc:///run/x"));
  for (const char* endpoint : {"tcp://127.0.0.1:1", "tcp://*:1", "tcp://10.0.0.1:1"}) {
    const auto checked = options.Check(endpoint);
    ASSERT_FALSE(checked) << endpoint;
    EXPECT_NE(checked.error().message.find("skerry keygen --role broker"), std::string::npos);
  }
}

TEST(DoorOptions, LoopbackIsServedPlainlyWhereThatIsAskedForAndNothingBeyondIt) {
  DoorOptions options;
  options.plain_loopback = true;
  EXPECT_TRUE(options.Check("tcp://127.0.0.1:1"));
  EXPECT_TRUE(options.Check("tcp://[::1]:1"));
  EXPECT_FALSE(options.Check("tcp://0.0.0.0:1"));
  EXPECT_FALSE(options.Check("tcp://*:1"));
  EXPECT_FALSE(options.Check("tcp://10.0.0.1:1"));
}

TEST(DoorOptions, WithKeysEveryEndpointIsServed) {
  for (const char* endpoint : {"ipc://x", "tcp://127.0.0.1:1", "tcp://*:1", "tcp://10.0.0.1:1"}) {
    EXPECT_TRUE(WithKeys().Check(endpoint)) << endpoint;
  }
  EXPECT_FALSE(WithKeys().Check("udp://x:1"));
}

TEST(DoorOptions, OperatorsComeByTcpWithKeysOnly) {
  const DoorOptions none;
  EXPECT_TRUE(none.Validate({}, {}, {"ipc://x"}));
  for (const char* endpoint : {"tcp://127.0.0.1:1", "tcp://*:1"}) {
    EXPECT_TRUE(WithKeys().Validate({}, {}, {endpoint})) << endpoint;
    const auto plain = none.Validate({}, {}, {endpoint});
    ASSERT_FALSE(plain) << endpoint;
    EXPECT_TRUE(plain.error().message.starts_with("admin: endpoint '")) << plain.error().message;
    EXPECT_NE(plain.error().message.find("skerry keygen --role broker"), std::string::npos);
  }
  DoorOptions loopback;
  loopback.plain_loopback = true;
  EXPECT_TRUE(loopback.Validate({}, {}, {"tcp://127.0.0.1:1"}));
  EXPECT_FALSE(loopback.Validate({}, {}, {"tcp://*:1"}));
}

TEST(DoorOptions, SayAllThatDoesNotFitTogether) {
  EXPECT_TRUE(WithKeys().Validate({"tcp://*:1"}, {"tcp://*:2"}, {"tcp://*:3"}));
  DoorOptions no_list = WithKeys();
  no_list.authorized_file.clear();
  no_list.plain_loopback = true;
  no_list.max_handshakes = 0;
  const auto faults = no_list.Validate({"nonsense"}, {"ipc://"}, {"udp://*:3"});
  ASSERT_FALSE(faults);
  for (const char* fault :
       {"authorized must name", "plain_loopback must not be set", "max_handshakes must be",
        "clients: endpoint 'nonsense'", "workers: endpoint 'ipc://'", "admin: endpoint 'udp://*:3'"}) {
    EXPECT_NE(faults.error().message.find(fault), std::string::npos) << faults.error().message;
  }
  DoorOptions no_key;
  no_key.authorized_file = "authorized.toml";
  EXPECT_FALSE(no_key.Validate({"ipc://x"}, {}, {}));
}

}  // namespace
}  // namespace skerry::broker
