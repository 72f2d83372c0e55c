// Whether anybody listens at endpoints, all tried at once.
//
// Threads: any. Errors: as errnos; ETIMEDOUT after `patience`.
#pragma once

#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::cli::doctor {

/// Of ipc:// and tcp:// with numeric addresses; 0: somebody listens.
std::vector<int> TryConnect(const std::vector<std::string>& endpoints, Millis patience);

/// To one of these. kUnavailable: why not, as the kernel says.
Result<Fd> ConnectTo(const std::string& endpoint, TimePoint until);

}  // namespace skerry::cli::doctor
