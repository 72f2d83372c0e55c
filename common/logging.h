// Logs: spdlog, one line per fact, to stderr. User code and values never go in; ids do.
//
// Threads: any, after InitLogging. The cell does not link this (its process must stay free of surprises); it
// writes single lines to stderr before its sandbox closes.
#pragma once

#include <spdlog/spdlog.h>

#include <string>

#include "common/result.h"

namespace skerry {

/// `name` marks the process ("broker", "worker"). `level`: trace, debug, info, warn, error, off.
Status InitLogging(const std::string& name, const std::string& level);

}  // namespace skerry
