#include "common/bounded_read.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>

#include "common/fd.h"

namespace skerry {
namespace {

Fd FileOf(const std::string& text) {
  Fd file(memfd_create("text", MFD_CLOEXEC));
  EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_SET), 0);
  return file;
}

TEST(ReadPast, GivesAllOfAFileThatIsAsLargeAsItMayBeAndOneByteMoreOfALargerOne) {
  EXPECT_EQ(*ReadPast(FileOf("").get(), 4), "");
  EXPECT_EQ(*ReadPast(FileOf("four").get(), 4), "four");
  EXPECT_EQ(*ReadPast(FileOf("fives").get(), 4), "fives");
  EXPECT_EQ(*ReadPast(FileOf("six is more").get(), 4), "six i");
}

TEST(ReadPast, SaysWhatTheSystemSays) {
  const Fd folder(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto read = ReadPast(folder.get(), 4);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "Is a directory");
}

}  // namespace
}  // namespace skerry
