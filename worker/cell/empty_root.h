// The root of a cell's mount namespace becomes an empty, read-only tmpfs; the old tree is let go.
//
// What is mapped already (the host binary, our object, the C library) stays mapped: mappings hold their
// files.
//
// Threads: single-threaded processes only. Errors: an errno's text; the caller decides whether it can do
// without.
#pragma once

#include "common/result.h"

namespace skerry::cell {

/// Needs CAP_SYS_ADMIN in the user namespace that owns the caller's mount namespace, which must be its own:
/// on a failure half of it may be done.
Status EnterEmptyRoot();

}  // namespace skerry::cell
