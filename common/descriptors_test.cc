#include "common/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

namespace skerry {
namespace {

constexpr int kHeld = 0;

/// What `check` returns in a process of its own, whose descriptors and limits it may spoil.
template <class Check>
int InAChild(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

bool IsDevNull(int fd) {
  struct stat info {};
  return fstat(fd, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
}

// The bits of those of 0, 1 and 2 that are /dev/null afterwards.
int NullsAfterClosing(const std::initializer_list<int>& closed) {
  return InAChild([&] {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) return 64;
    for (int fd = 0; fd <= 2; ++fd) dup2(pipe_ends[0], fd);
    for (const int fd : closed) close(fd);
    FillStandardDescriptors();
    int nulls = 0;
    for (int fd = 0; fd <= 2; ++fd) nulls |= IsDevNull(fd) ? 1 << fd : 0;
    return nulls;
  });
}

TEST(StandardDescriptorsTest, EachThatIsClosedBecomesDevNull) {
  EXPECT_EQ(NullsAfterClosing({0}), 0b001);
  EXPECT_EQ(NullsAfterClosing({1}), 0b010);
  EXPECT_EQ(NullsAfterClosing({2}), 0b100);
  EXPECT_EQ(NullsAfterClosing({0, 2}), 0b101);
  EXPECT_EQ(NullsAfterClosing({0, 1, 2}), 0b111);
}

TEST(StandardDescriptorsTest, ThoseThatAreOpenStayWhatTheyAre) {
  EXPECT_EQ(NullsAfterClosing({}), 0);
}

TEST(StandardDescriptorsTest, TheNextFileOpensBehindThem) {
  const int opened = InAChild([] {
    for (int fd = 0; fd <= 2; ++fd) close(fd);
    FillStandardDescriptors();
    return open("/dev/zero", O_RDONLY) > 2 ? kHeld : 1;
  });
  EXPECT_EQ(opened, kHeld);
}

TEST(DescriptorLimitTest, IsRaisedToTheHardLimit) {
  const int raised = InAChild([] {
    rlimit files{32, 64};  // a known figure on every machine
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) return 3;
    if (RaiseDescriptorLimit() != 64) return 4;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 5;
    return files.rlim_cur == 64 ? kHeld : 6;
  });
  EXPECT_EQ(raised, kHeld);
}

}  // namespace
}  // namespace skerry
