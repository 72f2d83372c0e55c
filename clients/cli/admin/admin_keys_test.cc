// Operators' commands over TCP, through real processes: by which key, and what is said where there is none.
#include <fstream>

#include "clients/cli/testing/command.h"
#include "clients/cpp/testing/processes.h"
#include "common/keys/key_file.h"
#include "common/testing/free_port.h"

namespace skerry::cli {
namespace {

using keys::SecretKey;

class AdminKeys : public testing::Command {
 protected:
  void SetUp() override {
    Command::SetUp();
    Write("broker", keys::Role::kBroker, broker_);
    Write("admin", keys::Role::kAdmin, admin_);
    Write("unlisted", keys::Role::kAdmin, SecretKey::Generate());
    Write("client", keys::Role::kClient, client_);
    std::ofstream(folder_ / "authorized.toml")
        << "[clients]\nacme = \"" << client_.Public().text() << "\"\n[admins]\nada = \""
        << admin_.Public().text() << "\"\n";
    pool_.StartBroker(
        {"--admin", endpoint_, "--key", folder_ / "broker", "--authorized", folder_ / "authorized.toml"});
  }
  void Write(const std::string& file, keys::Role role, const SecretKey& key) {
    ASSERT_TRUE(keys::WriteKeyFile(folder_ / file, {role, "", key}));
  }
  int Ask(const std::vector<std::string>& by) {
    std::vector<std::string> arguments = {"top", "--once", "--json", "--admin", endpoint_};
    arguments.insert(arguments.end(), by.begin(), by.end());
    return Run(arguments);
  }
  std::vector<std::string> With(const std::string& file) {
    return {"--admin-key", folder_ / file, "--broker-key", broker_.Public().text()};
  }

  const SecretKey broker_ = SecretKey::Generate(), admin_ = SecretKey::Generate(),
                  client_ = SecretKey::Generate();
  const std::string endpoint_ = "tcp://127.0.0.1:" + std::to_string(skerry::testing::FreePort());
  testing::Processes pool_;
};

TEST_F(AdminKeys, AnOperatorsKeyIsAnswered) {
  EXPECT_EQ(Ask(With("admin")), 0) << Text("stderr");
  EXPECT_TRUE(testing::json::accept(Text("stdout"))) << Text("stdout");
  // A broker's own key may stand behind its endpoint.
  EXPECT_EQ(Run({"workers", "ls", "--admin", endpoint_ + " " + broker_.Public().text(), "--admin-key",
                 folder_ / "admin"}),
            0)
      << Text("stderr");
}

TEST_F(AdminKeys, WhoHasNoneIsToldWhatToDo) {
  EXPECT_EQ(Ask(With("client")), 2) << "a client's key is not even tried";
  EXPECT_NE(Text("stderr").find("skerry keygen --role admin"), std::string::npos) << Text("stderr");
  EXPECT_EQ(Ask(With("unlisted")), 69);
  EXPECT_NE(Text("stderr").find("the broker refuses this key"), std::string::npos) << Text("stderr");
  EXPECT_NE(Text("stderr").find("[admins]"), std::string::npos) << Text("stderr");
  EXPECT_EQ(Ask({}), 69);
  EXPECT_NE(Text("stderr").find("needs a key (--admin-key"), std::string::npos) << Text("stderr");
  EXPECT_TRUE(Text("stdout").empty());
}

}  // namespace
}  // namespace skerry::cli
