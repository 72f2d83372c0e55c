#include "worker/engine/utf8.h"

namespace skerry::engine {
namespace {

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

std::string_view Utf8Prefix(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && IsContinuation(text[end])) --end;
  return text.substr(0, end);
}

std::string QuotedPrefix(std::string_view json_text, std::size_t max_bytes) {
  std::string quoted = "\"";
  std::size_t i = 0;
  while (i < json_text.size()) {
    std::size_t next = i + 1;
    while (next < json_text.size() && IsContinuation(json_text[next])) ++next;
    const bool escape = json_text[i] == '"' || json_text[i] == '\\';
    if (quoted.size() + (next - i) + (escape ? 1 : 0) + 1 > max_bytes) break;
    if (escape) quoted += '\\';
    quoted.append(json_text, i, next - i);
    i = next;
  }
  quoted += '"';
  return quoted;
}

}  // namespace skerry::engine
