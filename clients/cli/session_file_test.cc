#include "clients/cli/session_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "clients/cpp/testing/test_folder.h"

namespace skerry::cli {
namespace {

using testing::TestFolder;

TEST(SessionFile, AResumedRunHasTheNameOfTheRunBefore) {
  const TestFolder folder;
  SessionFile first = SessionFile::Of(folder / "out");
  const SessionId name = first.Fresh();
  ASSERT_TRUE(first.Keep());
  EXPECT_EQ(SessionFile::Of(folder / "out").Kept(), name);
}

TEST(SessionFile, ANewRunHasANameOfItsOwn) {
  const TestFolder folder;
  SessionFile first = SessionFile::Of(folder / "out");
  const SessionId name = first.Fresh();
  ASSERT_TRUE(first.Keep());
  EXPECT_NE(SessionFile::Of(folder / "out").Fresh(), name);
}

TEST(SessionFile, ARunThatHasEndedLeavesNone) {
  const TestFolder folder;
  SessionFile first = SessionFile::Of(folder / "out");
  const SessionId name = first.Fresh();
  ASSERT_TRUE(first.Keep());
  first.Remove();
  EXPECT_NE(SessionFile::Of(folder / "out").Kept(), name);
  EXPECT_FALSE(std::ifstream(folder / "out.session").good());
}

TEST(SessionFile, WhatIsNoNameIsNotTaken) {
  const TestFolder folder;
  for (const char* text :
       {"", "short", "../../../../etc/passwd-0123456789ab", "0123456789ABCDEF0123456789ABCDEF"}) {
    std::ofstream(folder / "out.session") << text;
    const SessionId name = SessionFile::Of(folder / "out").Kept();
    EXPECT_NE(name.str(), text);
    EXPECT_EQ(name.str().size(), 32u);
  }
}

TEST(SessionFile, IsForItsOwnerOnly) {
  const TestFolder folder;
  SessionFile file = SessionFile::Of(folder / "out");
  file.Fresh();
  ASSERT_TRUE(file.Keep());
  struct stat info {};
  ASSERT_EQ(stat((folder / "out.session").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST(SessionFile, OfStdoutIsNoFile) {
  SessionFile file = SessionFile::Of("-");
  EXPECT_FALSE(file.Fresh().empty());
  EXPECT_TRUE(file.Keep());
  file.Remove();
}

}  // namespace
}  // namespace skerry::cli
