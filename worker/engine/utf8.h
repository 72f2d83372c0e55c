// Cutting JSON text to a size (common/utf8.h cuts plain text). Threads: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skerry::engine {

/// A JSON string literal that holds as much of `json_text` as fits in `max_bytes` (at least 2), quotes
/// included. `json_text` is JSON itself, so it has no raw control characters.
std::string QuotedPrefix(std::string_view json_text, std::size_t max_bytes);

}  // namespace skerry::engine
