// The rest of a file that must not be larger than some bound, however it grows meanwhile.
//
// Threads: any. Errors: errno as text, without the file's name; size is the caller's to judge.
#pragma once

#include <cstddef>
#include <string>

#include "common/result.h"

namespace skerry {

/// What follows in `fd`, at most `most` bytes and one more: whoever gets that one has found it too large.
Result<std::string> ReadPast(int fd, std::size_t most);

}  // namespace skerry
