// Whether anybody listens at endpoints, all tried at once.
//
// Threads: any. Errors: as errnos; ETIMEDOUT after `patience`.
#pragma once

#include <string>
#include <vector>

#include "common/units.h"

namespace skerry::cli::doctor {

/// Of ipc:// and tcp:// with numeric addresses; 0: somebody listens.
std::vector<int> TryConnect(const std::vector<std::string>& endpoints, Millis patience);

}  // namespace skerry::cli::doctor
