// JSON as text: checking it, quoting strings, keeping it on one line. Values pass through raw; nothing here
// builds a tree.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skerry::cli {

/// Whether `text` is exactly one JSON value (RFC 8259) in valid UTF-8. Any depth: a result nested 100,000
/// deep is legal JSON, so nesting is kept as one bit per level instead of a stack frame.
bool IsJson(std::string_view text);

/// Appends `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD: the line must stay readable
/// whatever a program said.
void AppendJsonString(std::string& out, std::string_view text);

/// Appends valid JSON without its line breaks, which can only stand between tokens.
void AppendOneLine(std::string& out, std::string_view json);

/// Appends a number of milliseconds with at most three decimals.
void AppendMillis(std::string& out, double ms);

}  // namespace skerry::cli
