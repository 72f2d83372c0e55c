#include "broker/jobs/library_names.h"

#include <gtest/gtest.h>

#include "broker/recent_set.h"

namespace skerry::broker {
namespace {

TEST(LibraryNames, AreAtMostSoMany) {
  EXPECT_FALSE(FaultInLibraries(LibraryNames{"a", "b"}, 2));
  EXPECT_EQ(FaultInLibraries(LibraryNames{"a", "b", "c"}, 2), "libraries must be at most 2, got 3");
}

TEST(LibraryNames, ThatRepeatAreNamedAndThatAreNoneAreNotQuoted) {
  EXPECT_EQ(FaultInLibraries(LibraryNames{"b", "a", "b"}, 4), "libraries names 'b' twice");
  EXPECT_EQ(FaultInLibraries(LibraryNames{"a", "\x1b[31m"}, 4),
            "each of libraries must be 1 to 64 of A-Z a-z 0-9 @ / . _ -");
}

TEST(LibraryNames, AWorkerServesOnlyWhoWantsNothingElse) {
  const LibraryNames has = {"a", "b", "c"};
  EXPECT_TRUE(HasAll(has, {}));
  EXPECT_TRUE(HasAll(has, LibraryNames{"c", "a"}));
  EXPECT_FALSE(HasAll(has, LibraryNames{"a", "d"}));
  EXPECT_FALSE(HasAll({}, LibraryNames{"a"}));
}

TEST(LibraryNames, AreListedUpToWhatAPersonReads) {
  std::set<std::string> names;
  for (char c = 'a'; c < 'a' + 16; ++c) names.insert(std::string(1, c));
  EXPECT_EQ(Listed({"b", "a"}), "'a', 'b'");
  EXPECT_TRUE(Listed(names).ends_with("'o', 'p'"));
  names.insert("q");
  EXPECT_TRUE(Listed(names).ends_with("'o', 'p' and 1 more"));
}

TEST(RecentSet, ForgetsWhatWasTouchedLongestAgo) {
  RecentSet<int, 3> set;
  for (const int value : {1, 2, 3}) EXPECT_FALSE(set.Touch(value));
  EXPECT_TRUE(set.Touch(1));
  EXPECT_FALSE(set.Touch(4));  // 2 goes
  EXPECT_EQ(set.size(), 3u);
  for (const int value : {1, 3, 4}) EXPECT_TRUE(set.Touch(value)) << value;
  EXPECT_FALSE(set.Touch(2));
}

}  // namespace
}  // namespace skerry::broker
