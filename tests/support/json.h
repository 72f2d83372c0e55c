// JSON as the tests read it: object keys in the order of the text, lone surrogates kept apart.
//
// A program may return '\ud800'; its result line then holds the escape `\ud800`, which is JSON but no Unicode
// text, and nlohmann refuses it. ParseJson turns such an escape into the six characters that spell it, so
// that two different lone surrogates stay different and equal texts stay equal.
//
// Threads: pure functions. Errors: text that is not JSON parses to nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace skerry::testing {

using Json = nlohmann::ordered_json;

std::optional<Json> ParseJson(std::string_view text);

/// JSON text in which every escape of a lone surrogate is spelt out: `"\ud800"` becomes `"\\ud800"`.
std::string SpellOutLoneSurrogates(std::string_view json);

/// Whether two values are equal, whatever the order of their objects' keys.
bool SameValue(const Json& a, const Json& b);

}  // namespace skerry::testing
