// Cutting UTF-8 text to a size, and checking short ones. Threads: pure functions. Header only: the cell uses
// it too.
#pragma once

#include <cstddef>
#include <string_view>

namespace skerry {

/// Whether `byte` goes on with a character that an earlier one began.
constexpr bool IsUtf8Continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// The longest prefix of at most `max_bytes` that does not end inside a character.
constexpr std::string_view CutUtf8(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && IsUtf8Continuation(text[end])) --end;
  return text.substr(0, end);
}

/// Whether a header's text is UTF-8 (RFC 3629: no surrogates, no overlong forms). For texts of a few hundred
/// bytes in a codec that the cell links too; what may be megabytes goes to IsUtf8 of text_check.h.
constexpr bool IsUtf8Header(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) {
      ++at;
      continue;
    }
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - at <= more) return false;
    // The second byte's range is narrower after these leads: no overlong form, no surrogate, none past
    // U+10FFFF.
    const auto second = static_cast<unsigned char>(text[at + 1]);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
      return false;
    }
    for (std::size_t i = 1; i <= more; ++i) {
      if (!IsUtf8Continuation(text[at + i])) return false;
    }
    at += more + 1;
  }
  return true;
}

}  // namespace skerry
