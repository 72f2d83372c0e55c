#include "worker/engine/host/hot_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "common/fd.h"
#include "worker/engine/host/memory_map.h"

namespace skerry::engine {
namespace {

/// Private memory, every page of it written once.
class Memory {
 public:
  explicit Memory(std::size_t pages)
      : pages_(pages),
        begin_(static_cast<char*>(
            mmap(nullptr, pages * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    for (std::size_t page = 0; page < pages; ++page) Write(page);
  }
  ~Memory() { munmap(begin_, pages_ * kPageBytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void Write(std::size_t page) const { static_cast<volatile char*>(begin_)[page * kPageBytes] = 1; }
  std::uintptr_t At(std::size_t page) const {
    return reinterpret_cast<std::uintptr_t>(begin_) + page * kPageBytes;
  }

 private:
  std::size_t pages_;
  char* begin_;
};

bool Covers(const std::vector<PageRange>& ranges, std::uintptr_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const PageRange& range) { return address >= range.begin && address < range.end; });
}

TEST(HotPages, AreThoseThatTheForkHasWritten) {
  const Memory memory(16);
  const HotPages hot = HotPages::Learn([&] {
    memory.Write(3);
    memory.Write(9);
  });
  for (const std::size_t page : {3, 9}) EXPECT_TRUE(Covers(hot.written(), memory.At(page))) << page;
  for (const std::size_t page : {0, 2, 5, 7, 11, 15})
    EXPECT_FALSE(Covers(hot.written(), memory.At(page))) << page;
}

TEST(HotPages, BridgeOnePageAndNotTwo) {
  const Memory memory(16);
  const HotPages hot = HotPages::Learn([&] {
    for (const std::size_t page : {4, 6, 9}) memory.Write(page);
  });
  EXPECT_TRUE(Covers(hot.written(), memory.At(5)));
  EXPECT_FALSE(Covers(hot.written(), memory.At(7)));
}

TEST(HotPages, AreNoneWhereTheForkDies) {
  EXPECT_TRUE(HotPages::Learn([] { _exit(1); }).written().empty());
}

TEST(HotPages, AreTheForksOwnWithoutAFaultForEach) {
  constexpr std::size_t kPages = 64;
  const Memory memory(2 * kPages);
  const auto write = [&] {
    for (std::size_t page = 0; page < kPages; ++page) memory.Write(page * 2);
  };
  const HotPages hot = HotPages::Learn(write);
  const pid_t child = fork();
  if (child == 0) {
    hot.Populate();
    const PageMap pages;
    bool all = true;
    for (std::size_t page = 0; page < kPages; ++page) {
      const auto seen = pages.Read({memory.At(page * 2), memory.At(page * 2 + 1)});
      all = all && !seen.empty() && seen[0].exclusive();
    }
    _exit(all ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// A file of whole huge pages, mapped to be read, each page of it beginning with its number.
class Constants {
 public:
  static constexpr std::size_t kBytes = HotPages::kLeastConstants + 2 * kHugePageBytes;

  Constants() {
    std::string path = "/tmp/skerry-constants-XXXXXX";
    const Fd file(mkstemp(path.data()));
    unlink(path.c_str());
    EXPECT_EQ(ftruncate(file.get(), kBytes), 0);
    for (std::size_t at = 0; at < kBytes; at += kPageBytes)
      EXPECT_EQ(pwrite(file.get(), &at, sizeof(at), static_cast<off_t>(at)),
                static_cast<ssize_t>(sizeof(at)));
    begin_ = static_cast<const char*>(mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file.get(), 0));
  }
  ~Constants() { munmap(const_cast<char*>(begin_), kBytes); }
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;

  std::size_t Read(std::size_t at) const {
    return *reinterpret_cast<const volatile std::size_t*>(begin_ + at);
  }
  /// The first whole huge page but `index`.
  std::size_t HugePage(std::size_t index) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(begin_);
    return WholeHugePages({begin, begin + kBytes}).begin - begin + index * kHugePageBytes;
  }
  std::uintptr_t AddressOf(std::size_t at) const { return reinterpret_cast<std::uintptr_t>(begin_) + at; }

 private:
  const char* begin_;
};

TEST(HotPages, NameTheConstantsThatTheForkHasRead) {
  const Constants constants;
  const HotPages hot = HotPages::Learn([&] { constants.Read(constants.HugePage(2) + 5 * kPageBytes); });
  EXPECT_TRUE(Covers(hot.constants(), constants.AddressOf(constants.HugePage(2))));
  EXPECT_FALSE(Covers(hot.constants(), constants.AddressOf(constants.HugePage(0))));
}

TEST(HotPages, MoveConstantsWithoutChangingThem) {
  const Constants constants;
  const std::size_t at = constants.HugePage(1);
  const HotPages hot = HotPages::Learn([&] { constants.Read(at); });
  if (hot.MoveConstants() == 0) GTEST_SKIP() << "this kernel gives no huge pages";
  for (std::size_t page = 0; page < kHugePageBytes; page += kPageBytes)
    EXPECT_EQ(constants.Read(at + page), at + page);
  for (const Mapping& mapping : ReadMemoryMap()) {
    if (!mapping.Contains(constants.AddressOf(at))) continue;
    EXPECT_FALSE(mapping.of_file);
    EXPECT_FALSE(mapping.writable);
  }
}

}  // namespace
}  // namespace skerry::engine
