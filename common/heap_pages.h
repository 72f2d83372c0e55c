// A process whose heap is large and read here and there: on huge pages, each look costs a memory access
// instead of several for the page tables, in a virtual machine twice as many.
//
// glibc takes that wish from the environment, when it starts and no other way (GLIBC_TUNABLES,
// glibc.malloc.hugetlb; glibc 2.35 and up). Linux must allow it (transparent_hugepage: madvise or always), or
// nothing changes.
//
// Threads: before any starts. Errors: none; what cannot be had is done without.
#pragma once

namespace skerry {

/// Executes this program again, with the same arguments and descriptors, if its heap is not on huge pages
/// already. An operator's own glibc.malloc.hugetlb stands, and other tunables are kept. What this process
/// starts later does not inherit ours.
void PutHeapOnHugePages(char* const argv[]);

}  // namespace skerry
