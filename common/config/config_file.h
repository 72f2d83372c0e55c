// skerry.toml: found, read within bounds, and taken apart into its leaves with their lines.
//
//   auto path = FindFile(flag, environment, kStandardPlaces);
//   auto file = ReadFile(*path);
//   for (const Entry& entry : file->entries) ... entry.path "broker.max_queued", entry.line 12
//
// Threads: pure but for the reads. Errors: a file that was named and is not there, or that is found and
// cannot be read, is an error and never skipped: a pool must not run with defaults that nobody chose. Of a
// syntax error the first is told, with line and column; what follows one cannot be trusted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/config/setting.h"
#include "common/result.h"

namespace skerry::config {

/// A whole configuration is some kilobytes; who points us at a disk image is told so.
inline constexpr std::size_t kMaxFileBytes = 1u << 20;

/// Neither of the types that settings have; `shown` is its text.
struct OtherValue {
  std::string shown;
};
/// A table, listed before what is in it.
struct TableValue {};

struct Entry {
  std::string path;  ///< "broker.ceilings.memoryMb"
  std::uint32_t line = 0;
  std::variant<Value, OtherValue, TableValue> value;
};

struct ConfigFile {
  std::string name;  ///< as faults show it
  std::vector<Entry> entries;
};

/// Places to look in when none is named, in order.
inline const std::vector<std::string> kStandardPlaces = {"skerry.toml", "/etc/skerry/skerry.toml"};

/// Why `path` in the current folder is not read unasked: it belongs to somebody else, or anyone may write it.
/// A configuration names programs to run.
Status CheckTrusted(const std::string& path);

/// Errors: one line that begins with the file's name, and its line and column where there are any.
Result<ConfigFile> ReadConfigFile(const std::string& path);
/// `name` is what faults call it.
Result<ConfigFile> ParseConfig(std::string_view text, const std::string& name);

}  // namespace skerry::config
