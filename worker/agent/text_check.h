// Whether bytes from an isolate are the text they must be. They are forwarded unread, so whoever embeds them
// later (a line of JSON Lines, a metric) relies on this.
//
// Threads: pure functions. Memory: one bit per level of nesting.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skerry::agent {

bool IsUtf8(std::string_view text);
/// One JSON value (RFC 8259) in UTF-8, of any depth, with no line break, tab or other control character in
/// it: as JSON.stringify writes it.
bool IsOneLineJson(std::string_view text);
/// The longest prefix of at most `max_bytes` that does not cut a UTF-8 sequence.
std::string_view CutUtf8(std::string_view text, std::size_t max_bytes);

}  // namespace skerry::agent
