#include "clients/cli/pool_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace skerry::cli {
namespace {

class PoolFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/skerry-folders-XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    base_ = pattern;
    setenv("SKERRY_TEST_BASE", pattern, 1);
  }
  void TearDown() override {
    unsetenv("SKERRY_TEST_BASE");
    std::filesystem::remove_all(base_);
  }
  static Result<PoolFolder> Make() { return PoolFolder::Make({"SKERRY_TEST_BASE"}); }
  std::size_t Folders() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(base_), {}));
  }

  std::filesystem::path base_;
};

TEST_F(PoolFolderTest, GoesWithItsOwnerAndLivesBesideOthers) {
  {
    auto one = Make();
    auto two = Make();
    ASSERT_TRUE(one && two);
    EXPECT_EQ(Folders(), 2u);
    PoolFolder moved = std::move(*one);
    auto three = Make();
    EXPECT_TRUE(std::filesystem::exists(moved.path())) << "a moved folder keeps its lock";
  }
  EXPECT_EQ(Folders(), 0u);
}

TEST_F(PoolFolderTest, OfAKilledProcessIsRemovedByTheNextOne) {
  const pid_t killed = fork();
  if (killed == 0) {
    auto folder = Make();
    _exit(folder ? 0 : 1);  // no destructor runs, as after SIGKILL
  }
  int status = 0;
  waitpid(killed, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(Folders(), 1u);
  const auto next = Make();
  ASSERT_TRUE(next);
  EXPECT_EQ(Folders(), 1u) << "its own";
}

TEST_F(PoolFolderTest, LeavesAloneWhatOnlyLooksLikeOne) {
  std::filesystem::create_directory(base_ / "skerry-abcdef");          // no lock, perhaps being made
  std::filesystem::create_directory(base_ / "skerry-something-else");  // another name
  const auto folder = Make();
  ASSERT_TRUE(folder);
  EXPECT_EQ(Folders(), 3u);
}

}  // namespace
}  // namespace skerry::cli
