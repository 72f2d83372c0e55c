// Moves the host's code from its file to anonymous huge pages (DESIGN section 6.3). A fork does not inherit
// the page-table entries of file mappings, so every isolate would fault in the code that it runs, page by
// page; it does inherit those of anonymous memory, and 23 entries map 46 MiB.
//
// Technique: copy, then mremap over the original, as Node's --use-largepages and Chromium do.
//
// Threads: one; nothing else may run in the moved range meanwhile. Ownership: for the process's life.
// Errors: none; where the kernel gives no huge pages everything stays as it was.
#pragma once

#include <cstddef>

namespace skerry::engine {

/// Returns the bytes moved, 0 where nothing was.
std::size_t MoveTextToHugePages();

}  // namespace skerry::engine
