// What the shell sees (DESIGN section 9).
#pragma once

#include "common/result.h"

namespace skerry::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitJobsFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnavailable = 69;  ///< no broker, or a private broker or worker that died
inline constexpr int kExitCannotWrite = 74;  ///< the output took no more (sysexits' EX_IOERR)
inline constexpr int kExitInterrupted = 130;

/// What a pool that cannot be had, or is gone, means for the shell.
inline int ExitCodeOf(const Error& error) {
  return error.kind == ErrorKind::kInvalid ? kExitUsage : kExitUnavailable;
}

}  // namespace skerry::cli
