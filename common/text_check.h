// Whether bytes are the text that they must be. Values are forwarded unread, so whoever embeds them later (a
// line of JSON Lines) relies on this.
//
// Threads: pure functions. Memory: one bit per level of nesting. A target of its own (skerry::text): the cell
// does not link simdjson.
#pragma once

#include <string>
#include <string_view>

namespace skerry {

enum class JsonLayout : bool {
  kOneLine,  ///< spaces between tokens, no line breaks or tabs: as JSON.stringify writes it
  kFree,     ///< whatever white space RFC 8259 allows
};

bool IsUtf8(std::string_view text);
/// Whether `text` is exactly one JSON value (RFC 8259) in UTF-8, of any depth.
bool IsJson(std::string_view text, JsonLayout layout = JsonLayout::kFree);
/// Where UTF-8 `text` stops being JSON, and by what: "column 19: NaN is not JSON", "line 2, column 1: ...".
/// Columns count characters. Empty: it is JSON.
std::string JsonFaultIn(std::string_view text);

}  // namespace skerry
