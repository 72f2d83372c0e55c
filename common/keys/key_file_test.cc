#include "common/keys/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/keys/guarded_file.h"

namespace skerry::keys {
namespace {

class KeyFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "skerry-keys-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/client.key";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static KeyFile ClientKey() { return {Role::kClient, "acme", SecretKey::Generate()}; }
  static std::string FaultOf(const std::string& text) {
    const auto file = ParseKeyFile(text, "k");
    EXPECT_FALSE(file) << text;
    return file ? "" : file.error().message;
  }

  std::string folder_, path_;
};

TEST_F(KeyFiles, AreReadAsTheyWereWritten) {
  const KeyFile key = ClientKey();
  ASSERT_TRUE(WriteKeyFile(path_, key));
  const auto read = ReadKeyFile(path_, Role::kClient);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tenant, "acme");
  EXPECT_EQ(read->secret.text(), key.secret.text());
}

TEST_F(KeyFiles, AreForTheirOwnerAloneWhateverTheUmask) {
  const mode_t before = umask(0);
  const auto written = WriteKeyFile(path_, ClientKey());
  umask(before);
  ASSERT_TRUE(written);
  struct stat about {};
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0600u);
}

TEST_F(KeyFiles, AreNeverReplaced) {
  const KeyFile first = ClientKey();
  ASSERT_TRUE(WriteKeyFile(path_, first));
  const auto second = WriteKeyFile(path_, ClientKey());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("never replaced"), std::string::npos);
  EXPECT_EQ(ReadKeyFile(path_, Role::kClient)->secret.text(), first.secret.text());
}

TEST_F(KeyFiles, ThatAnyOtherCanReadOrWriteAreRefused) {
  ASSERT_TRUE(WriteKeyFile(path_, ClientKey()));
  for (const mode_t mode : {0601, 0602, 0604, 0610, 0620, 0640}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    const auto read = ReadKeyFile(path_, Role::kClient);
    ASSERT_FALSE(read) << mode;
    EXPECT_NE(read.error().message.find("chmod 600 " + path_), std::string::npos) << read.error().message;
  }
  for (const mode_t mode : {0600, 0400, 0700}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    EXPECT_TRUE(ReadKeyFile(path_, Role::kClient)) << mode;
  }
}

TEST_F(KeyFiles, ThatHoldAPublicKeyAloneAreSaidToWhoeverMayReadThem) {
  for (const mode_t mode : {0600, 0644}) {
    std::ofstream(path_, std::ios::trunc) << ClientKey().secret.Public().text() << "\n";
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    const auto read = ReadKeyFile(path_, Role::kClient);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, path_ +
                                        ": holds no secret (a public key alone?): this must be the file "
                                        "of `skerry keygen`");
  }
}

TEST_F(KeyFiles, OfAnotherUserAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_TRUE(WriteKeyFile(path_, ClientKey()));
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  const auto read = ReadKeyFile(path_, Role::kClient);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("belongs to user 12345"), std::string::npos) << read.error().message;
}

TEST_F(KeyFiles, OfAnotherRoleAreRefused) {
  ASSERT_TRUE(WriteKeyFile(path_, ClientKey()));
  const auto read = ReadKeyFile(path_, Role::kWorker);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("keygen --role worker"), std::string::npos) << read.error().message;
}

TEST_F(KeyFiles, ThatAreNoneSayWhyAndShowNoSecret) {
  const KeyFile key = ClientKey();
  const std::string text = KeyFileText(key);
  ASSERT_TRUE(ParseKeyFile(text, "k"));
  EXPECT_NE(FaultOf(text + "note = \"x\"\n").find("unknown name 'note'"), std::string::npos);
  EXPECT_NE(FaultOf(text + "role = \"client\"\n").find("k:6"), std::string::npos) << "twice";
  EXPECT_NE(FaultOf("role = client").find("k:1"), std::string::npos);
  EXPECT_NE(FaultOf("role = \"cli\\\"ent\"").find("k:1"), std::string::npos);
  EXPECT_NE(FaultOf("").find("role"), std::string::npos);
  std::string other = text;
  other.replace(other.find("secret = ") + 10, kKeyChars, SecretKey::Generate().text());
  EXPECT_NE(FaultOf(other).find("not of one pair"), std::string::npos);
  std::string broken = text;
  broken.replace(broken.find("secret = ") + 10, kKeyChars, key.secret.text().substr(1));
  EXPECT_EQ(FaultOf(broken).find(key.secret.text().substr(1)), std::string::npos);
}

TEST_F(KeyFiles, OfTheLargestSizeAreReadAndOneByteMoreIsRefused) {
  const auto write = [&](std::size_t size) {
    std::ofstream(path_) << std::string(size, '#');
    chmod(path_.c_str(), 0600);
  };
  write(100);
  EXPECT_EQ(ReadGuardedFile(path_, Guard::kSecret, 100)->size(), 100u);
  write(101);
  EXPECT_FALSE(ReadGuardedFile(path_, Guard::kSecret, 100));
}

TEST_F(KeyFiles, ThatAreFoldersFifosOrNotThereHoldNobodyUp) {
  ASSERT_EQ(mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  for (const char* name : {"/", "/fifo", "/none"})
    EXPECT_FALSE(ReadGuardedFile(folder_ + name, Guard::kSecret, 100));
}

TEST_F(KeyFiles, ListsMayBeReadByAllAndWrittenByNoOther) {
  std::ofstream(path_) << "x";
  for (const mode_t mode : {0644, 0600, 0444}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    EXPECT_TRUE(ReadGuardedFile(path_, Guard::kTrusted, 100)) << mode;
  }
  for (const mode_t mode : {0664, 0646}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    EXPECT_FALSE(ReadGuardedFile(path_, Guard::kTrusted, 100)) << mode;
  }
}

TEST(KeyOwnersName, HasOneTo128BytesAndNothingThatPartsOrQuotes) {
  EXPECT_TRUE(IsKeyOwnersName("a team @ acme.org"));
  EXPECT_TRUE(IsKeyOwnersName(std::string(128, 'x')));
  for (const std::string& name : {std::string(), std::string(129, 'x'), std::string("a/b"),
                                  std::string("a\"b"), std::string("a\\b"), std::string("a\nb")}) {
    EXPECT_FALSE(IsKeyOwnersName(name)) << name;
  }
}

}  // namespace
}  // namespace skerry::keys
