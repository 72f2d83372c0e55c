// Cutting UTF-8 text to a size. Threads: pure functions. Header only: the cell uses it too.
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

}  // namespace skerry
