#include "common/keys/link_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace skerry::keys {
namespace {

class LinkKeysTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "skerry-link-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    key_ = folder_ + "/client.key";
    ASSERT_TRUE(WriteKeyFile(key_, {Role::kClient, "acme", SecretKey::Generate()}));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string FaultOf(const LinkSettings& settings) {
    const auto keys = LoadLinkKeys(settings, Role::kClient);
    return keys ? "none" : keys.error().message;
  }

  std::string folder_, key_;
  const std::string broker_ = SecretKey::Generate().Public().text();
};

TEST_F(LinkKeysTest, ATcpLinkHasThem) {
  for (const char* endpoint : {"tcp://10.0.0.1:1", "tcp://broker.lan:1", "tcp://127.0.0.1:1"}) {
    const auto keys = LoadLinkKeys({endpoint, key_, broker_}, Role::kClient);
    ASSERT_TRUE(keys) << keys.error().message;
    ASSERT_TRUE(*keys) << endpoint;
    EXPECT_EQ((*keys)->own.tenant, "acme");
    EXPECT_EQ((*keys)->broker.text(), broker_);
  }
}

TEST_F(LinkKeysTest, AnIpcLinkHasNoneAndLoopbackMayHaveNone) {
  for (const LinkSettings& settings :
       {LinkSettings{"ipc://x", "", ""}, LinkSettings{"ipc://x", key_, broker_},
        LinkSettings{"tcp://127.0.0.1:1", "", ""}}) {
    const auto keys = LoadLinkKeys(settings, Role::kClient);
    ASSERT_TRUE(keys) << keys.error().message;
    EXPECT_FALSE(*keys);
  }
}

TEST_F(LinkKeysTest, ALinkThatLeavesTheMachineIsNeverPlain) {
  const std::string fault = FaultOf({"tcp://10.0.0.1:1", "", ""});
  EXPECT_NE(fault.find("broker: endpoint 'tcp://10.0.0.1:1' is refused without a key"), std::string::npos)
      << fault;
  EXPECT_NE(fault.find("skerry keygen --role client"), std::string::npos) << fault;
}

TEST_F(LinkKeysTest, HalfOfThemIsAFaultAndNotAPlainLink) {
  EXPECT_TRUE(FaultOf({"tcp://127.0.0.1:1", key_, ""}).starts_with("broker_key: is needed"));
  EXPECT_TRUE(FaultOf({"tcp://127.0.0.1:1", "", broker_}).starts_with("broker: "));
  EXPECT_TRUE(FaultOf({"tcp://127.0.0.1:1", key_, "nonsense"}).starts_with("broker_key: "));
  EXPECT_TRUE(FaultOf({"tcp://127.0.0.1:1", folder_ + "/none", broker_}).starts_with("key: "));
  EXPECT_TRUE(FaultOf({"nonsense", key_, broker_}).starts_with("broker: endpoint 'nonsense'"));
  ASSERT_EQ(chmod(key_.c_str(), 0644), 0);
  EXPECT_NE(FaultOf({"tcp://127.0.0.1:1", key_, broker_}).find("chmod 600"), std::string::npos);
}

TEST_F(LinkKeysTest, OfAnOperatorAreNamedByTheirOwnSettings) {
  const auto fault = [&](const LinkSettings& settings) {
    const auto keys = LoadLinkKeys(settings, Role::kAdmin);
    return keys ? std::string("none") : keys.error().message;
  };
  const std::string none = fault({"tcp://10.0.0.1:1", "", ""});
  EXPECT_TRUE(none.starts_with("admin: endpoint 'tcp://10.0.0.1:1' is refused without a key")) << none;
  EXPECT_NE(none.find("skerry keygen --role admin"), std::string::npos) << none;
  EXPECT_NE(none.find("--admin-key"), std::string::npos) << none;
  const std::string clients = fault({"tcp://10.0.0.1:1", key_, broker_});
  EXPECT_EQ(clients, "admin_key: " + key_ +
                         ": is a client's key; an admin needs one of its own (skerry keygen --role admin)");
  ASSERT_TRUE(WriteKeyFile(folder_ + "/admin.key", {Role::kAdmin, "", SecretKey::Generate()}));
  EXPECT_EQ(fault({"tcp://10.0.0.1:1", folder_ + "/admin.key", broker_}), "none");
}

}  // namespace
}  // namespace skerry::keys
