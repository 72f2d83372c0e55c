#include "clients/cli/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common/text_check.h"

namespace skerry::cli {
namespace {

/// How many bytes of `text` form its first character, or 0 where they are not UTF-8.
std::size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (text.size() < size || !IsUtf8(text.substr(0, size))) return 0;
  return size;
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const bool valid = IsUtf8(text);
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else if (valid || byte < 0x80) {
      out += c;
    } else if (const std::size_t size = CharacterBytes(text.substr(i)); size > 0) {
      out += text.substr(i, size);
      i += size - 1;
    } else {
      out += "\xef\xbf\xbd";
    }
  }
  out += '"';
}

void AppendOneLine(std::string& out, std::string_view json) {
  if (json.find_first_of("\r\n") == std::string_view::npos) {
    out += json;
    return;
  }
  for (const char c : json) {
    if (c != '\n' && c != '\r') out += c;
  }
}

void AppendMillis(std::string& out, double ms) {
  char buffer[64];
  // Thousandths as a whole number first: 12.3400001 must not print its tail.
  const double thousandths = std::round(std::clamp(ms, 0.0, 1e15) * 1000);
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, thousandths / 1000);
  out.append(buffer, error == std::errc() ? end : buffer);
}

}  // namespace skerry::cli
