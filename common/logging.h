// Logs: one line per fact, to stderr, as text or JSON (spdlog behind it). User code, values, messages and
// console text never go in; ids do, as fields.
//
//   log::Info("worker connected", {{"worker", worker.session.str()}, {"slots", worker.slots}});
//   if (log::On(log::Level::kDebug)) ...            // where fields cost something to make
//
// Lines of info and above are limited per kind (log_limiter.h), so that no peer can fill a disk; debug and
// trace are not: they are asked for.
//
// Threads: any, after InitLogging. The cell does not link this (its process must stay free of surprises); it
// writes single lines to stderr before its sandbox closes.
#pragma once

#include <cstdint>
#include <string>

#include "common/log_fields.h"
#include "common/result.h"

namespace skerry {

/// `name` marks the process ("broker", "worker"). `level`: trace, debug, info, warn, error, off. `format`:
/// text or json.
Status InitLogging(const std::string& name, const std::string& level, const std::string& format = "text");

namespace log {

enum class Level : std::uint8_t { kDebug, kInfo, kWarn, kError };

/// Whether lines of this level are written at all.
bool On(Level level);
void Write(Level level, LogText message, LogFields fields = {});

inline void Debug(LogText message, LogFields fields = {}) {
  Write(Level::kDebug, message, fields);
}
inline void Info(LogText message, LogFields fields = {}) {
  Write(Level::kInfo, message, fields);
}
inline void Warn(LogText message, LogFields fields = {}) {
  Write(Level::kWarn, message, fields);
}
inline void Error(LogText message, LogFields fields = {}) {
  Write(Level::kError, message, fields);
}

}  // namespace log
}  // namespace skerry
