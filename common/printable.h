// Text of another's making, fit for a terminal, a log line or a metric's label. Threads: pure functions.
// Header only: the cell includes it with the ids.
#pragma once

#include <algorithm>
#include <string>

namespace skerry {

/// Of ASCII: bytes of longer UTF-8 characters are none.
constexpr bool IsControl(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// `text` with `?` in the place of each control character.
inline std::string WithoutControls(std::string text) {
  std::replace_if(text.begin(), text.end(), IsControl, '?');
  return text;
}

/// `text` with `?` in the place of each byte that is not printable ASCII.
inline std::string PrintableAscii(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return IsControl(c) || (c & 0x80) != 0; }, '?');
  return text;
}

}  // namespace skerry
