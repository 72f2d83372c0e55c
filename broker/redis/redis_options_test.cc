#include "broker/redis/redis_options.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace skerry::broker {
namespace {

TEST(RedisAddress, IsASocketOrAHostWithAPortAndPerhapsADatabase) {
  const auto socket = ParseAddress("/run/redis/redis.sock");
  ASSERT_TRUE(socket);
  EXPECT_EQ(socket->path, "/run/redis/redis.sock");
  const auto plain = ParseAddress("cache-1.example:6379");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "cache-1.example");
  EXPECT_EQ(plain->port, 6379);
  EXPECT_EQ(plain->database, 0);
  const auto six = ParseAddress("[::1]:6379/15");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->database, 15);
}

TEST(RedisAddress, IsRefusedOtherwiseAndNotShown) {
  for (const char* text :
       {"redis", "localhost", "localhost:", ":6379", "localhost:0", "localhost:65536", "localhost:6379/",
        "localhost:6379/x", "localhost:6379/65536", "localhost:6379/-1", "::1:6379", "[localhost]:6379",
        "redis://localhost:6379", "user:secret@host:6379", "secret@host:1", "host name:1"}) {
    const auto address = ParseAddress(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().message.find("secret"), std::string::npos);
    EXPECT_FALSE(CheckAddress(text));
  }
  EXPECT_TRUE(CheckAddress("")) << "none";
  EXPECT_TRUE(CheckAddress("/" + std::string(106, 'p')));
  EXPECT_FALSE(CheckAddress("/" + std::string(107, 'p')));
  EXPECT_TRUE(CheckAddress(std::string(255, 'h') + ":1"));
  EXPECT_FALSE(CheckAddress(std::string(256, 'h') + ":1"));
}

TEST(RedisPrefix, IsPrintableAndShort) {
  EXPECT_TRUE(CheckPrefix("skerry:"));
  EXPECT_TRUE(CheckPrefix(std::string(64, 'p')));
  for (const auto& text : {std::string(), std::string(65, 'p'), std::string("a b"), std::string("{a"),
                           std::string("a}"), std::string("\n"), std::string("\xc3\xa9")}) {
    EXPECT_FALSE(CheckPrefix(text)) << text;
  }
}

class Password : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "skerry-password-" + std::to_string(getpid());
    unsetenv(kPasswordVariable);
  }
  void TearDown() override {
    unsetenv(kPasswordVariable);
    std::filesystem::remove(path_);
  }
  Result<std::string> Of(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
    RedisOptions options;
    options.password_file = path_;
    return ReadPassword(options);
  }
  std::string path_;
};

TEST_F(Password, IsAFilesFirstLineTheVariablesOrNone) {
  EXPECT_EQ(ReadPassword({}).value(), "");
  setenv(kPasswordVariable, "from here", 1);
  EXPECT_EQ(ReadPassword({}).value(), "from here");
  EXPECT_EQ(Of("s e c r e t\n").value(), "s e c r e t") << "the file comes first";
  EXPECT_EQ(Of("plain").value(), "plain");
  EXPECT_EQ(Of(std::string(512, 'p')).value().size(), 512u);
  EXPECT_EQ(Of(std::string(512, 'p') + "\n").value().size(), 512u);
}

TEST_F(Password, OfAFileThatOthersCanReadOrThatIsNoneIsRefused) {
  for (const mode_t mode : {0640, 0604, 0660, 0620}) {
    const auto password = Of("secret", mode);
    ASSERT_FALSE(password) << mode;
    EXPECT_NE(password.error().message.find("chmod 600"), std::string::npos);
    EXPECT_EQ(password.error().message.find("secret"), std::string::npos);
  }
  EXPECT_FALSE(Of(""));
  EXPECT_FALSE(Of("\n"));
  EXPECT_FALSE(Of(std::string(513, 'p')));
  RedisOptions options;
  options.password_file = "/nowhere/password";
  EXPECT_FALSE(ReadPassword(options));
  options.password_file = "/";
  EXPECT_FALSE(ReadPassword(options));
  setenv(kPasswordVariable, std::string(513, 'p').c_str(), 1);
  EXPECT_FALSE(ReadPassword({}));
}

}  // namespace
}  // namespace skerry::broker
