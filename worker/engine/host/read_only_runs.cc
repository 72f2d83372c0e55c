#include "worker/engine/host/read_only_runs.h"

#include <sys/mman.h>

#include <cstring>

namespace skerry::engine {
namespace {

// A closed mapping that is larger is a reservation, not a gap.
constexpr std::size_t kLargestPart = std::size_t{1} << 20;
constexpr std::size_t kFewest = 3;

bool IsPart(const Mapping& mapping) {
  return !mapping.of_file && !mapping.shared && !mapping.writable && !mapping.executable &&
         mapping.range.size() <= kLargestPart;
}

/// Maps a copy of the run over it. Returns the number of mappings that are gone: 0 where the kernel refuses.
std::size_t Merge(const PageRange& run, const std::vector<Mapping>& mappings) {
  void* const copy = ::mmap(nullptr, run.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return 0;
  std::size_t parts = 0;
  for (const Mapping& mapping : mappings) {
    if (mapping.range.begin < run.begin || mapping.range.end > run.end) continue;
    ++parts;
    if (!mapping.readable) continue;
    std::memcpy(static_cast<char*>(copy) + (mapping.range.begin - run.begin),
                reinterpret_cast<const void*>(mapping.range.begin), mapping.range.size());
  }
  if (MoveOver(copy, run, PROT_READ)) return parts - 1;
  ::munmap(copy, run.size());
  return 0;
}

}  // namespace

std::vector<PageRange> FindReadOnlyRuns(const std::vector<Mapping>& mappings) {
  std::vector<PageRange> runs;
  for (std::size_t first = 0; first < mappings.size(); ++first) {
    if (!IsPart(mappings[first]) || !mappings[first].readable) continue;
    std::size_t last = first;  // the last readable one so far
    bool gaps = false;
    bool gaps_before_last = false;
    for (std::size_t i = first + 1; i < mappings.size(); ++i) {
      if (!IsPart(mappings[i]) || mappings[i].range.begin != mappings[i - 1].range.end) break;
      if (!mappings[i].readable) {
        gaps = true;
        continue;
      }
      last = i;
      gaps_before_last = gaps;
    }
    if (gaps_before_last && last - first + 1 >= kFewest) {
      runs.push_back({mappings[first].range.begin, mappings[last].range.end});
    }
    first = last;
  }
  return runs;
}

std::size_t MergeReadOnlyRuns() {
  const std::vector<Mapping> mappings = ReadMemoryMap();
  std::size_t gone = 0;
  for (const PageRange& run : FindReadOnlyRuns(mappings)) gone += Merge(run, mappings);
  return gone;
}

}  // namespace skerry::engine
