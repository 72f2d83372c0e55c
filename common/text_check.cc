#include "common/text_check.h"

#include <simdjson.h>

#include <algorithm>
#include <vector>

namespace skerry {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLayout(char c) {
  return c == '\t' || c == '\n' || c == '\r';
}
bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// A JSON reader that builds nothing. simdjson's own parser is not used: it bounds the depth (V8's stringify
// nests deeper than its default) and allocates many times the text's size.
class JsonScanner {
 public:
  JsonScanner(std::string_view text, JsonLayout layout)
      : layout_(layout), at_(text.data()), end_(text.data() + text.size()) {}

  /// Where it stopped.
  const char* at() const { return at_; }

  bool Document() {
    if (!Value()) return false;
    while (!open_.empty()) {
      if (!AfterValue()) return false;
    }
    SkipSpaces();
    return at_ == end_;
  }

 private:
  enum Container : bool { kArray = false, kObject = true };

  void SkipSpaces() {
    while (at_ < end_ && (*at_ == ' ' || (layout_ == JsonLayout::kFree && IsLayout(*at_)))) ++at_;
  }
  bool Take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word)
      return false;
    at_ += word.size();
    return true;
  }

  // Reads one value, going into the first members of containers until a scalar or an empty container is
  // complete.
  bool Value() {
    for (;;) {
      SkipSpaces();
      if (at_ == end_) return false;
      switch (*at_) {
        case '[':
          ++at_;
          SkipSpaces();
          if (Take(']')) return true;
          open_.push_back(kArray);
          continue;
        case '{':
          ++at_;
          SkipSpaces();
          if (Take('}')) return true;
          open_.push_back(kObject);
          if (!Key()) return false;
          continue;
        case '"':
          return String();
        case 't':
          return TakeWord("true");
        case 'f':
          return TakeWord("false");
        case 'n':
          return TakeWord("null");
        default:
          return Number();
      }
    }
  }

  // Behind a complete value inside a container: its end, or the next member.
  bool AfterValue() {
    const bool container = open_.back();
    SkipSpaces();
    if (Take(container == kObject ? '}' : ']')) {
      open_.pop_back();
      return true;
    }
    if (!Take(',')) return false;
    if (container == kObject && !Key()) return false;
    return Value();
  }

  bool Key() {
    SkipSpaces();
    if (!String()) return false;
    SkipSpaces();
    return Take(':');
  }

  bool String() {
    if (!Take('"')) return false;
    while (at_ < end_) {
      const char c = *at_++;
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return Back();
      if (c == '\\' && !Escape()) return false;
    }
    return false;
  }

  bool Escape() {
    if (at_ == end_) return false;
    const char c = *at_++;
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos || Back();
    for (int i = 0; i < 4; ++i) {
      if (at_ == end_) return false;
      if (!IsHexDigit(*at_++)) return Back();
    }
    return true;
  }

  /// False: the character just read is the fault.
  bool Back() {
    --at_;
    return false;
  }

  bool Digits() {
    if (at_ == end_ || !IsDigit(*at_)) return false;
    while (at_ < end_ && IsDigit(*at_)) ++at_;
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

  const JsonLayout layout_;
  const char* at_;
  const char* const end_;
  std::vector<bool> open_;  // the containers around the current position
};

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// What stands at the beginning of `rest` and should not.
std::string WhatIsWrong(std::string_view rest) {
  if (rest.empty()) return "it ends too early";
  std::size_t letters = 0;
  while (letters < std::min<std::size_t>(rest.size(), 24) && IsLetter(rest[letters])) ++letters;
  const std::string word(rest.substr(0, letters));
  // Of other languages' writers: json.dumps of Python, repr, JavaScript.
  for (const char* known : {"NaN", "Infinity", "None", "True", "False", "undefined"}) {
    if (word == known) return word + " is not JSON";
  }
  if (letters > 0) return "unexpected " + word;
  const char c = rest.front();
  if (c > 0x20 && c < 0x7f) return std::string("unexpected ") + c;
  return static_cast<unsigned char>(c) < 0x20 ? "a control character" : "an unexpected character";
}

}  // namespace

bool IsUtf8(std::string_view text) {
  return text.empty() || simdjson::validate_utf8(text.data(), text.size());
}

bool IsJson(std::string_view text, JsonLayout layout) {
  return IsUtf8(text) && JsonScanner(text, layout).Document();
}

std::string JsonFaultIn(std::string_view text) {
  JsonScanner scanner(text, JsonLayout::kFree);
  if (scanner.Document()) return {};
  const auto place = static_cast<std::size_t>(scanner.at() - text.data());
  const std::string_view before = text.substr(0, place);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::string_view line = before.substr(lines == 0 ? 0 : before.rfind('\n') + 1);
  // All but the bytes that continue a character.
  const auto characters = std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  const std::string where = lines == 0 ? "" : "line " + std::to_string(lines + 1) + ", ";
  return where + "column " + std::to_string(characters + 1) + ": " + WhatIsWrong(text.substr(place));
}

}  // namespace skerry
