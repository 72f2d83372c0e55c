#include "worker/engine/host/hot_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/fd.h"
#include "worker/engine/host/memory_map.h"

namespace skerry::engine {
namespace {

// A call costs as much as copying a page for nothing.
constexpr std::uintptr_t kBridgedGap = kPageBytes;
constexpr std::size_t kMaxRanges = 256;
// Larger ones are reservations, of which a small job writes next to nothing.
constexpr std::size_t kLargestWritable = std::size_t{64} << 20;

/// Appends to the last range what follows it closely, up to kMaxRanges of them.
void Append(std::vector<PageRange>* ranges, const PageRange& more, std::uintptr_t bridged) {
  if (!ranges->empty() && more.begin >= ranges->back().end && more.begin - ranges->back().end <= bridged) {
    ranges->back().end = more.end;
  } else if (ranges->size() < kMaxRanges) {
    ranges->push_back(more);
  }
}

std::vector<PageRange> FindWritten(const std::vector<Mapping>& inherited, const PageMap& pages) {
  std::vector<PageRange> written;
  for (const Mapping& mapping : inherited) {
    if (!mapping.readable || !mapping.writable || mapping.executable || mapping.shared ||
        mapping.range.size() > kLargestWritable)
      continue;
    std::uintptr_t begin = mapping.range.begin;
    for (const PageMap::Page page : pages.Read(mapping.range)) {
      if (page.exclusive()) Append(&written, {begin, begin + kPageBytes}, kBridgedGap);
      begin += kPageBytes;
    }
  }
  return written;
}

std::vector<PageRange> FindConstants(const std::vector<Mapping>& inherited, const PageMap& pages) {
  std::vector<PageRange> constants;
  std::size_t left = HotPages::kMaxConstantPages;
  for (const Mapping& mapping : inherited) {
    if (!mapping.readable || mapping.writable || mapping.executable || !mapping.of_file ||
        mapping.range.size() < HotPages::kLeastConstants)
      continue;
    const PageRange whole = WholeHugePages(mapping.range);
    for (std::uintptr_t begin = whole.begin; begin < whole.end && left > 0; begin += kHugePageBytes) {
      const PageRange chunk{begin, begin + kHugePageBytes};
      const auto seen = pages.Read(chunk);
      if (std::none_of(seen.begin(), seen.end(), [](PageMap::Page page) { return page.present(); })) continue;
      Append(&constants, chunk, 0);
      --left;
    }
  }
  return constants;
}

void Tell(int fd, const std::vector<PageRange>& ranges) {
  const std::size_t count = ranges.size();
  const std::size_t bytes = count * sizeof(PageRange);
  if (write(fd, &count, sizeof(count)) != sizeof(count) ||
      write(fd, ranges.data(), bytes) != static_cast<ssize_t>(bytes))
    _exit(1);
}

/// Both lists fit into a pipe, so each write and read is whole.
std::vector<PageRange> Hear(int fd) {
  std::size_t count = 0;
  if (read(fd, &count, sizeof(count)) != sizeof(count) || count > kMaxRanges) return {};
  std::vector<PageRange> ranges(count);
  const std::size_t bytes = count * sizeof(PageRange);
  if (read(fd, ranges.data(), bytes) != static_cast<ssize_t>(bytes)) return {};
  return ranges;
}

}  // namespace

HotPages HotPages::Learn(const std::function<void()>& job) {
  HotPages hot;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return hot;
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const std::vector<Mapping> inherited = ReadMemoryMap();
  const pid_t child = fork();
  if (child == 0) {
    job();
    const PageMap pages;
    const auto written = FindWritten(inherited, pages);
    Tell(theirs.get(), written);
    Tell(theirs.get(), FindConstants(inherited, pages));
    _exit(0);
  }
  theirs.Reset();
  if (child < 0) return hot;
  hot.written_ = Hear(ours.get());
  hot.constants_ = Hear(ours.get());
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return hot;
}

std::size_t HotPages::MoveConstants() const {
  std::size_t moved = 0;
  for (const PageRange& range : constants_) moved += MoveToHugePages(range, PROT_READ);
  return moved;
}

void HotPages::Populate() const {
  for (const PageRange& range : written_)
    madvise(reinterpret_cast<void*>(range.begin), range.size(), MADV_POPULATE_WRITE);
}

}  // namespace skerry::engine
