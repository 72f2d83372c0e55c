#include "clients/cli/json_text.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <vector>

namespace skerry::cli {
namespace {

constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// A cursor over the text; each Take* moves past one token or says no.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool WholeValue() {
    // One bit per open container: true for an object.
    std::vector<bool> open;
    for (;;) {
      SkipSpace();
      if (!Begin(open)) return false;
      // A value has ended: close what it closes, or go on to the next one.
      for (;;) {
        if (container_begun_) break;
        SkipSpace();
        if (open.empty()) return at_ == end_;
        if (Take(',')) {
          if (open.back() && !Key()) return false;
          break;
        }
        if (!Take(open.back() ? '}' : ']')) return false;
        open.pop_back();
      }
    }
  }

 private:
  /// A scalar, an empty container, or the opening of one (then container_begun_).
  bool Begin(std::vector<bool>& open) {
    container_begun_ = false;
    if (at_ == end_) return false;
    switch (*at_) {
      case '{':
        ++at_;
        SkipSpace();
        if (Take('}')) return true;
        open.push_back(true);
        container_begun_ = true;
        return Key();
      case '[':
        ++at_;
        SkipSpace();
        if (Take(']')) return true;
        open.push_back(false);
        container_begun_ = true;
        return true;
      case '"':
        return String();
      case 't':
        return Word("true");
      case 'f':
        return Word("false");
      case 'n':
        return Word("null");
      default:
        return Number();
    }
  }

  bool Key() {
    SkipSpace();
    if (at_ == end_ || *at_ != '"' || !String()) return false;
    SkipSpace();
    return Take(':');
  }

  bool String() {
    for (++at_; at_ != end_; ++at_) {
      const char c = *at_;
      if (c == '"') return ++at_, true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\' && !Escape()) return false;
    }
    return false;
  }

  /// At the backslash; ends at the escape's last character.
  bool Escape() {
    if (++at_ == end_) return false;
    if (*at_ != 'u') return std::string_view("\"\\/bfnrt").find(*at_) != std::string_view::npos;
    if (end_ - at_ < 5) return false;
    for (int i = 1; i <= 4; ++i) {
      if (!std::isxdigit(static_cast<unsigned char>(at_[i]))) return false;
    }
    at_ += 4;
    return true;
  }

  bool Number() {
    Take('-');
    if (!Take('0') && !Digits()) return false;
    if (Take('.') && !Digits()) return false;
    if (Take('e') || Take('E')) {
      if (!Take('+')) Take('-');
      return Digits();
    }
    return true;
  }
  bool Digits() {
    const char* begin = at_;
    while (at_ != end_ && IsDigit(*at_)) ++at_;
    return at_ != begin;
  }
  bool Word(std::string_view word) {
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word)
      return false;
    at_ += word.size();
    return true;
  }
  bool Take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void SkipSpace() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
  }

  const char* at_;
  const char* end_;
  bool container_begun_ = false;
};

/// How many bytes of `text` form its first character, or 0 where they are not UTF-8.
std::size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (text.size() < size || !simdjson::validate_utf8(text.data(), size)) return 0;
  return size;
}

}  // namespace

bool IsJson(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size()) && Scanner(text).WholeValue();
}

void AppendJsonString(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const bool valid = simdjson::validate_utf8(text.data(), text.size());
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
