#include "clients/cli/admin/terminal_text.h"

#include <array>
#include <cstdio>

#include "common/printable.h"

namespace skerry::cli {
namespace {

bool Continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// One character with its bytes; a byte that is no part of one, alone.
std::string_view CharacterAt(std::string_view text, std::size_t at) {
  if ((text[at] & 0x80) == 0 || Continues(text[at])) return text.substr(at, 1);
  std::size_t end = at + 1;
  while (end < text.size() && Continues(text[end])) ++end;
  return text.substr(at, end - at);
}

bool MayBeShown(std::string_view character) {
  if (character.size() == 1) return !IsControl(character[0]) && (character[0] & 0x80) == 0;
  struct Run {
    std::string_view first;
    std::string_view last;
  };
  // In UTF-8, whose order is that of the code points.
  constexpr std::array<Run, 5> kNot = {{{"\xc2\x80", "\xc2\x9f"},            // C1 controls
                                        {"\xd8\x9c", "\xd8\x9c"},            // Arabic letter mark
                                        {"\xe2\x80\x8b", "\xe2\x80\x8f"},    // no width, marks
                                        {"\xe2\x80\xa8", "\xe2\x80\xae"},    // separators, embeddings
                                        {"\xe2\x81\xa0", "\xe2\x81\xaf"}}};  // joiner, isolates
  for (const Run& run : kNot) {
    if (character.size() == run.first.size() && character >= run.first && character <= run.last) return false;
  }
  return character != "\xef\xbb\xbf";  // a byte order mark
}

}  // namespace

std::string TerminalText(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = CharacterAt(text, at);
    shown += MayBeShown(character) ? character : std::string_view("?");
    at += character.size();
  }
  return shown;
}

std::string EscapedJson(std::string_view json) {
  std::string escaped;
  for (std::size_t at = 0; at < json.size();) {
    const std::string_view character = CharacterAt(json, at);
    at += character.size();
    if ((character[0] & 0x80) == 0 || MayBeShown(character)) {
      escaped += character;
      continue;
    }
    const auto bits = [&](std::size_t i) { return static_cast<unsigned char>(character[i]) & 0x3fu; };
    // What may not be shown has two bytes or three; a byte that is no part of a character has one.
    const unsigned point = character.size() == 2   ? (character[0] & 0x1fu) << 6 | bits(1)
                           : character.size() == 3 ? (character[0] & 0x0fu) << 12 | bits(1) << 6 | bits(2)
                                                   : 0xfffdu;
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "\\u%04x", point);
    escaped += text.data();
  }
  return escaped;
}

std::size_t WidthOf(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += Continues(c) ? 0 : 1;
  return width;
}

std::string CutTo(std::string_view text, std::size_t width) {
  if (WidthOf(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t end = 0;
  for (std::size_t kept = 1; kept < width; ++kept) end += CharacterAt(text, end).size();
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace skerry::cli
