// The broker's heap is jemalloc's, and on huge pages.
//
// Messages are made in one of its threads and freed in the other, for which glibc's malloc takes locks that
// both want. And a queue of 100,000 jobs is looked at here and there: on small pages each look costs several
// memory accesses for the page tables, in a virtual machine twice as many. docs/performance.md has figures.
//
// An operator's MALLOC_CONF comes before this (jemalloc(3), TUNING).

extern "C" {
// The name is jemalloc's, which looks for it at its start.
const char* malloc_conf = "thp:always";
}
