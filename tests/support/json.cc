#include "tests/support/json.h"

#include <charconv>

namespace skerry::testing {
namespace {

// The code unit of the escape `\uXXXX` at `at`, if one stands there.
std::optional<unsigned> EscapedUnit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned unit = 0;
  const char* const end = text.data() + at + 6;
  const auto [stop, error] = std::from_chars(text.data() + at + 2, end, unit, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return unit;
}

bool IsHigh(std::optional<unsigned> unit) {
  return unit && (*unit & 0xFC00u) == 0xD800u;
}
bool IsLow(std::optional<unsigned> unit) {
  return unit && (*unit & 0xFC00u) == 0xDC00u;
}

}  // namespace

std::string SpellOutLoneSurrogates(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    if (json[i] != '\\') {
      out += json[i++];
      continue;
    }
    const auto unit = EscapedUnit(json, i);
    std::size_t length = unit ? 6 : 2;
    if (IsHigh(unit) && IsLow(EscapedUnit(json, i + 6))) {
      length = 12;
    } else if (IsHigh(unit) || IsLow(unit)) {
      out += '\\';  // the escape's own backslash is now an escaped one
    }
    out += json.substr(i, length);
    i += length;
  }
  return out;
}

std::optional<Json> ParseJson(std::string_view text) {
  Json value = Json::parse(SpellOutLoneSurrogates(text), nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

bool SameValue(const Json& a, const Json& b) {
  if (a.is_object() && b.is_object()) {
    if (a.size() != b.size()) return false;
    for (const auto& [key, value] : a.items()) {
      if (!b.contains(key) || !SameValue(value, b.at(key))) return false;
    }
    return true;
  }
  if (a.is_array() && b.is_array()) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!SameValue(a[i], b[i])) return false;
    }
    return true;
  }
  return a == b;
}

}  // namespace skerry::testing
