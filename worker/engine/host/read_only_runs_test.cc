#include "worker/engine/host/read_only_runs.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>

namespace skerry::engine {
namespace {

enum class Part { kReadable, kClosed, kWritable };

/// Mappings of one page each, side by side.
std::vector<Mapping> Row(std::initializer_list<Part> parts) {
  std::vector<Mapping> row;
  std::uintptr_t at = 0x100000;
  for (const Part part : parts) {
    Mapping mapping;
    mapping.range = {at, at + kPageBytes};
    mapping.readable = part != Part::kClosed;
    mapping.writable = part == Part::kWritable;
    row.push_back(mapping);
    at += kPageBytes;
  }
  return row;
}

TEST(ReadOnlyRuns, GoFromTheFirstReadablePartToTheLast) {
  const auto row =
      Row({Part::kClosed, Part::kReadable, Part::kClosed, Part::kReadable, Part::kClosed, Part::kWritable});
  const auto runs = FindReadOnlyRuns(row);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0], (PageRange{row[1].range.begin, row[3].range.end}));
}

TEST(ReadOnlyRuns, HaveAGapAndThreePartsAtLeast) {
  EXPECT_TRUE(FindReadOnlyRuns(Row({Part::kReadable, Part::kReadable, Part::kReadable})).empty()) << "no gap";
  EXPECT_TRUE(FindReadOnlyRuns(Row({Part::kReadable, Part::kClosed})).empty()) << "the gap is not inside";
  EXPECT_EQ(FindReadOnlyRuns(Row({Part::kReadable, Part::kClosed, Part::kReadable})).size(), 1u);
}

TEST(ReadOnlyRuns, EndWhereSomethingCanBeWrittenOrDoesNotFollow) {
  EXPECT_TRUE(
      FindReadOnlyRuns(Row({Part::kReadable, Part::kClosed, Part::kWritable, Part::kReadable})).empty());
  auto apart = Row({Part::kReadable, Part::kClosed, Part::kReadable});
  apart[2].range.begin += kPageBytes;
  apart[2].range.end += kPageBytes;
  EXPECT_TRUE(FindReadOnlyRuns(apart).empty());
}

TEST(ReadOnlyRuns, LeaveFilesReservationsAndCodeAlone) {
  auto row = Row({Part::kReadable, Part::kClosed, Part::kReadable});
  row[0].of_file = true;
  EXPECT_TRUE(FindReadOnlyRuns(row).empty());
  row = Row({Part::kReadable, Part::kClosed, Part::kReadable});
  row[1].range.end = row[1].range.begin + (1u << 20) + kPageBytes;
  row[2].range = {row[1].range.end, row[1].range.end + kPageBytes};
  EXPECT_TRUE(FindReadOnlyRuns(row).empty());
  row = Row({Part::kReadable, Part::kClosed, Part::kReadable});
  row[2].executable = true;
  EXPECT_TRUE(FindReadOnlyRuns(row).empty());
}

TEST(ReadOnlyRuns, KeepWhatTheyHoldAndCannotBeWrittenAfterwards) {
  constexpr std::size_t kPages = 7;  // readable and closed ones in turns, between two closed ones
  auto* const area = static_cast<char*>(
      ::mmap(nullptr, (kPages + 2) * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(area, MAP_FAILED);
  char* const run = area + kPageBytes;
  for (std::size_t i = 0; i < kPages; ++i) run[i * kPageBytes] = static_cast<char>('a' + i);
  ::mprotect(area, (kPages + 2) * kPageBytes, PROT_NONE);
  for (std::size_t i = 0; i < kPages; i += 2) ::mprotect(run + i * kPageBytes, kPageBytes, PROT_READ);
  EXPECT_GE(MergeReadOnlyRuns(), kPages - 1);
  for (std::size_t i = 0; i < kPages; ++i)
    EXPECT_EQ(run[i * kPageBytes], i % 2 == 0 ? static_cast<char>('a' + i) : '\0');
  const auto map = ReadMemoryMap();
  const auto merged = std::find_if(map.begin(), map.end(), [&](const Mapping& mapping) {
    return mapping.Contains(reinterpret_cast<std::uintptr_t>(run));
  });
  ASSERT_NE(merged, map.end());
  EXPECT_EQ(merged->range.size(), kPages * kPageBytes);
  EXPECT_FALSE(merged->writable);
  ::munmap(area, (kPages + 2) * kPageBytes);
}

}  // namespace
}  // namespace skerry::engine
