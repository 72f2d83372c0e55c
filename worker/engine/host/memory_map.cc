#include "worker/engine/host/memory_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

namespace skerry::engine {

std::vector<Mapping> ReadMemoryMap() {
  std::vector<Mapping> mappings;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    char permissions[5] = {};
    unsigned long inode = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*s %lu", &mapping.range.begin,
                    &mapping.range.end, permissions, &inode) != 4)
      continue;
    mapping.readable = permissions[0] == 'r';
    mapping.writable = permissions[1] == 'w';
    mapping.executable = permissions[2] == 'x';
    mapping.shared = permissions[3] == 's';
    mapping.of_file = inode != 0;
    mappings.push_back(mapping);
  }
  return mappings;
}

PageMap::PageMap() : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

std::vector<PageMap::Page> PageMap::Read(const PageRange& range) const {
  std::vector<std::uint64_t> entries(range.size() / kPageBytes);
  const std::size_t bytes = entries.size() * sizeof(std::uint64_t);
  const auto offset = static_cast<off_t>(range.begin / kPageBytes * sizeof(std::uint64_t));
  if (!file_.valid() || ::pread(file_.get(), entries.data(), bytes, offset) != static_cast<ssize_t>(bytes))
    return {};
  return {entries.begin(), entries.end()};
}

}  // namespace skerry::engine
