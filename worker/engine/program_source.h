// Where the job's own source is among V8's scripts, and how its positions become the user's.
//
// Threads: plain data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/outcome.h"

namespace skerry::engine {

/// What the job's source is called in stacks. No host path ever shows.
inline constexpr std::string_view kProgramName = "job.js";

struct ProgramSource {
  static constexpr int kNotCompiled = -1;

  int script_id = kNotCompiled;   ///< V8's; kNotCompiled: only positions of compile errors are mapped
  int header_lines = 0;           ///< lines that V8 puts before the body of a dynamic function
  std::uint32_t lines = 1;        ///< of the user's text
  std::uint32_t last_column = 1;  ///< one past the end of its last line

  static ProgramSource Of(std::string_view code, int header_lines) {
    ProgramSource source;
    source.header_lines = header_lines;
    source.lines += static_cast<std::uint32_t>(std::count(code.begin(), code.end(), '\n'));
    const std::size_t last_break = code.rfind('\n');
    const std::size_t last_line =
        last_break == std::string_view::npos ? code.size() : code.size() - last_break - 1;
    source.last_column = static_cast<std::uint32_t>(last_line) + 1;
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
