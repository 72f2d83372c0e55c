#include "common/config/config_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace skerry::config {
namespace {

class ConfigFiles : public ::testing::Test {
 protected:
  ConfigFiles() {
    std::string pattern = "/tmp/skerry-config-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~ConfigFiles() override { std::filesystem::remove_all(folder_); }

  std::string File(const std::string& text) {
    std::string path = folder_ / "skerry.toml";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  /// What is wrong with the file, without its folder.
  std::string Fault(const std::string& path) {
    const auto file = ReadConfigFile(path);
    EXPECT_FALSE(file);
    if (file) return {};
    EXPECT_TRUE(file.error().message.starts_with(path)) << file.error().message;
    return file.error().message.substr(path.size());
  }

  std::filesystem::path folder_;
};

const Entry& At(const ConfigFile& file, const std::string& path) {
  static const Entry kNone;
  for (const Entry& entry : file.entries) {
    if (entry.path == path) return entry;
  }
  ADD_FAILURE() << "no " << path;
  return kNone;
}

TEST_F(ConfigFiles, GiveTheirLeavesWithTheirLines) {
  const auto file = ParseConfig(
      "# mine\n[broker]\nclients = [\"a\", \"b\"]\n\nmax_queued = 1_000\n"
      "[broker.ceilings]\nmemoryMb = 512\n",
      "skerry.toml");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(std::holds_alternative<TableValue>(At(*file, "broker").value));
  EXPECT_EQ(At(*file, "broker.clients").line, 3u);
  EXPECT_EQ(std::get<Value>(At(*file, "broker.clients").value), Value(TextList{"a", "b"}));
  EXPECT_EQ(At(*file, "broker.max_queued").line, 5u);
  EXPECT_EQ(std::get<Value>(At(*file, "broker.max_queued").value), Value(std::uint64_t{1000}));
  EXPECT_EQ(At(*file, "broker.ceilings.memoryMb").line, 7u);
}

TEST_F(ConfigFiles, TakeNumbersThatNoSettingHoldsForOtherValues) {
  for (const char* text : {"-1", "1.5", "nan", "inf", "[1]", "1979-05-27", "[[]]"}) {
    const auto file = ParseConfig(std::string("x = ") + text, "f");
    ASSERT_TRUE(file) << text << file.error().message;
    EXPECT_TRUE(std::holds_alternative<OtherValue>(At(*file, "x").value)) << text;
  }
}

TEST_F(ConfigFiles, TellWhereTheSyntaxIsWrong) {
  EXPECT_EQ(Fault(File("[broker]\nmax_queued == 1\n")).substr(0, 6), ":2:13:");
  EXPECT_EQ(Fault(File("[broker]\nx = 1\nx = 2\n")).substr(0, 3), ":3:");
  EXPECT_EQ(Fault(File("x = 9223372036854775808\n")).substr(0, 3), ":1:") << "2^63 is no TOML integer";
  EXPECT_EQ(Fault(File("x = \"\xff\"\n")).substr(0, 3), ":1:") << "not UTF-8";
  EXPECT_EQ(Fault(File("[broker]\n[broker]\n")).substr(0, 3), ":2:");
}

TEST_F(ConfigFiles, MayHaveAByteOrderMarkAndWindowsLineEnds) {
  const auto file = ReadConfigFile(File("\xef\xbb\xbf[broker]\r\nmax_queued = 7\r\nmetrics = \"x\"\r\n"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(At(*file, "broker.max_queued").line, 2u);
  EXPECT_EQ(std::get<Value>(At(*file, "broker.metrics").value), Value(std::string("x")));
}

TEST_F(ConfigFiles, MayBeEmpty) {
  const auto file = ReadConfigFile(File(""));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->entries.empty());
}

TEST_F(ConfigFiles, ThatAreNoFilesAreRefused) {
  EXPECT_EQ(Fault(folder_), ": is a folder, not a file");
  EXPECT_EQ(Fault(folder_ / "missing"), ": cannot be read: No such file or directory");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(Fault(folder_ / "pipe"), ": is not a regular file");
  EXPECT_EQ(Fault("/dev/zero"), ": is not a regular file");
}

TEST_F(ConfigFiles, OfAGigabyteAreRefusedWithoutBeingReadWhole) {
  const std::string path = File("");
  ASSERT_EQ(truncate(path.c_str(), 1 << 30), 0);
  EXPECT_EQ(Fault(path), ": is larger than 1 MiB: no configuration is; is it the right file?");
}

TEST_F(ConfigFiles, ThatNestTooDeepAreRefused) {
  EXPECT_EQ(Fault(File("x = " + std::string(100'000, '[') + "\n")).substr(0, 3), ":1:");
}

TEST_F(ConfigFiles, WhoseKeysNestTooDeepAreRefusedEvenBehindAnEscapedQuote) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  EXPECT_EQ(Fault(File("a" + deep + " = 1\n")).substr(0, 3), ":1:");
  EXPECT_EQ(Fault(File(R"("\"")" + deep + " = 1\n")).substr(0, 3), ":1:");
  EXPECT_EQ(Fault(File(R"('\')" + deep + " = 1\n")).substr(0, 3), ":1:") << "no escape in single quotes";
}

TEST_F(ConfigFiles, OfOthersAreNotTrustedInTheCurrentFolder) {
  const std::string path = File("");
  EXPECT_TRUE(CheckTrusted(path));
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_NE(CheckTrusted(path).error().message.find("anyone may write it"), std::string::npos);
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_NE(CheckTrusted(path).error().message.find("it belongs to user 65534"), std::string::npos);
}

TEST(ConfigFile, ADottedKeyOfSixtyThousandPartsIsAFaultAndNoCrash) {
  std::string key = "a";
  for (int i = 0; i < 60'000; ++i) key += ".a";
  for (const std::string& text : {key + " = 1\n", "[" + key + "]\n", "x = {" + key + " = 1}\n"}) {
    const auto parsed = ParseConfig("# first line\n" + text, "f.toml");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().message.substr(0, 9), "f.toml:2:") << parsed.error().message;
  }
  EXPECT_TRUE(ParseConfig("x = \"" + std::string(1'000, '.') + "\"\n", "f.toml"));
}

}  // namespace
}  // namespace skerry::config
