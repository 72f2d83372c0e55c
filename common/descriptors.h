// A process and its descriptors, at the start of a main. Threads: before any starts.
#pragma once

#include <cstdint>

namespace skerry {

/// Opens /dev/null on those of 0, 1 and 2 that are closed. First thing in a main: the next descriptor would
/// else take their place, and whoever writes to stderr would write into it.
void FillStandardDescriptors();

/// Raises RLIMIT_NOFILE to what the system allows; returns that, 0 where it cannot be read. Shells give 1,024
/// where the hard limit is far higher.
std::uint64_t RaiseDescriptorLimit();

}  // namespace skerry
