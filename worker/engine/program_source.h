// Where the job's own source is among V8's scripts, and how its positions become the user's.
//
// Threads: plain data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/outcome.h"
#include "common/utf8.h"

namespace skerry::engine {

/// What the job's source is called in stacks. No host path ever shows.
inline constexpr std::string_view kProgramName = "job.js";

/// The bytes of the line terminator that `text` begins with (ECMA-262, section 12.3; CR LF counts as one, as
/// V8 counts it), or 0.
constexpr std::size_t LineTerminatorBytes(std::string_view text) {
  if (text.starts_with("\r\n")) return 2;
  if (text.starts_with('\n') || text.starts_with('\r')) return 1;
  if (text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9")) return 3;  // U+2028, U+2029
  return 0;
}

/// How many UTF-16 units, which V8's columns count, the UTF-8 `text` has.
constexpr std::uint32_t Utf16Units(std::string_view text) {
  std::uint32_t units = 0;
  for (const char c : text) {
    units += !IsUtf8Continuation(c);                 // one a character
    units += static_cast<unsigned char>(c) >= 0xF0;  // and a second where it is past U+FFFF
  }
  return units;
}

struct ProgramSource {
  static constexpr int kNotCompiled = -1;

  int script_id = kNotCompiled;   ///< V8's; kNotCompiled: only positions of compile errors are mapped
  int header_lines = 0;           ///< lines that V8 puts before the body of a dynamic function
  std::uint32_t lines = 1;        ///< of the user's text
  std::uint32_t last_column = 1;  ///< one past the end of its last line

  static ProgramSource Of(std::string_view code, int header_lines) {
    ProgramSource source;
    source.header_lines = header_lines;
    std::size_t last_line = 0;  // where it begins
    for (std::size_t at = 0; at < code.size(); ++at) {
      const std::size_t length = LineTerminatorBytes(code.substr(at));
      if (length == 0) continue;
      ++source.lines;
      at += length - 1;
      last_line = at + 1;
    }
    source.last_column = Utf16Units(code.substr(last_line)) + 1;
    return source;
  }

  /// From V8's line and column (both from 1). What lies past the user's text (a missing brace is noticed in
  /// the wrapper) becomes the end of it.
  SourcePosition ToUser(int line, int column) const {
    const int user_line = line - header_lines;
    if (line <= 0) return {};
    if (user_line < 1) return {1, 1};
    if (static_cast<std::uint32_t>(user_line) > lines) return {lines, last_column};
    return {static_cast<std::uint32_t>(user_line), static_cast<std::uint32_t>(std::max(column, 1))};
  }
};

}  // namespace skerry::engine
