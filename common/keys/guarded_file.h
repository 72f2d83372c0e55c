// Reads a file that others must not read, or must not write: keys, and who may connect.
//
// Threads: any. Errors: one line that names the file, what is wrong with it and what to do.
#pragma once

#include <cstddef>
#include <string>

#include "common/result.h"

namespace skerry::keys {

enum class Guard : unsigned char {
  kSecret,   ///< nobody but its owner may read or write it
  kTrusted,  ///< anybody may read it; nobody but its owner may write it
  kNone      ///< anybody may do anything to it: to say what it is, not to believe it
};

/// The text of a regular file of at most `max_bytes` that belongs to this user or to root.
Result<std::string> ReadGuardedFile(const std::string& path, Guard guard, std::size_t max_bytes);

}  // namespace skerry::keys
