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

TEST(SessionFile, AResumedRunKnowsWhichBrokerHadWhichJobLastAndGoesOnNoting) {
  const TestFolder folder;
  {
    SessionFile first = SessionFile::Of(folder / "out");
    first.Fresh();
    ASSERT_TRUE(first.Keep());
    first.Note({{JobId("a"), "ipc:///1"}, {JobId("b c"), "ipc:///2"}});
    first.Note({{JobId("a"), "ipc:///2"}});
  }
  std::ofstream(folder / "out.session", std::ios::app) << "ipc:///1\tcut o";
  for (int life = 0; life < 2; ++life) {
    SessionFile next = SessionFile::Of(folder / "out");
    next.Kept();
    EXPECT_EQ(next.PlaceOf(JobId("a")), "ipc:///2");
    EXPECT_EQ(next.PlaceOf(JobId("b c")), "ipc:///2");
    if (life == 0) {
      EXPECT_EQ(next.PlaceOf(JobId("cut o")), "");
    }
    EXPECT_EQ(next.PlaceOf(JobId("d")), life == 0 ? "" : "ipc:///3");
    ASSERT_TRUE(next.Keep());
    next.Note({{JobId("d"), "ipc:///3"}});
  }
  SessionFile fresh = SessionFile::Of(folder / "out");
  fresh.Fresh();
  ASSERT_TRUE(fresh.Keep());
  EXPECT_EQ(fresh.PlaceOf(JobId("a")), "");
}

TEST(SessionFile, OfStdoutIsNoFile) {
  SessionFile file = SessionFile::Of("-");
  EXPECT_FALSE(file.Fresh().empty());
  EXPECT_TRUE(file.Keep());
  file.Remove();
}

}  // namespace
}  // namespace skerry::cli
