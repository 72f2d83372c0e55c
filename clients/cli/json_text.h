// JSON as text: quoting strings, keeping it on one line (common/text_check.h checks it). Values pass through
// raw; nothing here builds a tree.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skerry::cli {

/// Appends `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD: the line must stay readable
/// whatever a program said.
void AppendJsonString(std::string& out, std::string_view text);

/// Appends valid JSON without its line breaks, which can only stand between tokens.
void AppendOneLine(std::string& out, std::string_view json);

/// Appends a number of milliseconds with at most three decimals.
void AppendMillis(std::string& out, double ms);

}  // namespace skerry::cli
