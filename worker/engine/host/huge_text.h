// Moves the host's code from its file to huge pages: 23 entries map 46 MiB.
//
// Threads, ownership, errors: as huge_pages.h.
#pragma once

#include <cstddef>

namespace skerry::engine {

/// Returns the bytes moved, 0 where nothing was.
std::size_t MoveTextToHugePages();

}  // namespace skerry::engine
