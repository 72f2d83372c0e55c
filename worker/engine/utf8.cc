#include "worker/engine/utf8.h"

#include "common/utf8.h"

namespace skerry::engine {

std::string QuotedPrefix(std::string_view json_text, std::size_t max_bytes) {
  std::string quoted = "\"";
  std::size_t i = 0;
  while (i < json_text.size()) {
    std::size_t next = i + 1;
    while (next < json_text.size() && IsUtf8Continuation(json_text[next])) ++next;
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
