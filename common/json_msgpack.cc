// MsgpackFromJson of msgpack_json.h: the way from JSON text.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "common/msgpack_json.h"

namespace skerry {
namespace {

constexpr double kMaxInteger = 9007199254740991.0;

/// How many members each container has, in the order in which they open: MessagePack says so first. Of a text
/// that is no JSON the figures mean nothing, and the second reading refuses it.
std::vector<std::uint32_t> CountMembers(std::string_view json) {
  std::vector<std::uint32_t> counts;
  std::vector<std::size_t> open;
  bool empty_so_far = false;  // a container has just opened
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    const bool closes = c == ']' || c == '}';
    if (empty_so_far && !closes) counts[open.back()] = 1;
    empty_so_far = false;
    if (c == '"') {
      while (++at < json.size() && json[at] != '"') at += json[at] == '\\';
    } else if (c == '[' || c == '{') {
      open.push_back(counts.size());
      counts.push_back(0);
      empty_so_far = true;
    } else if (closes && !open.empty()) {
      open.pop_back();
    } else if (c == ',' && !open.empty()) {
      ++counts[open.back()];
    }
  }
  return counts;
}

class MsgpackWriter {
 public:
  explicit MsgpackWriter(std::size_t likely_bytes) { out_.reserve(likely_bytes); }

  void Byte(unsigned byte) { out_ += static_cast<char>(byte); }
  void Integer(std::int64_t value) {
    if (value >= 0) return Unsigned(static_cast<std::uint64_t>(value));
    if (value >= -32) return Byte(static_cast<unsigned>(value & 0xff));
    const int size = value >= INT8_MIN ? 1 : value >= INT16_MIN ? 2 : value >= INT32_MIN ? 4 : 8;
    Byte(0xd0u + static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(size))));
    Big(static_cast<std::uint64_t>(value), size);
  }
  void Fraction(double value) {
    Byte(0xcb);
    Big(std::bit_cast<std::uint64_t>(value), 8);
  }
  void Text(std::string_view text) {
    const std::size_t size = text.size();
    if (size < 32) {
      Byte(0xa0u + static_cast<unsigned>(size));
    } else {
      const int width = size <= UINT8_MAX ? 1 : size <= UINT16_MAX ? 2 : 4;
      Byte(width == 1 ? 0xd9 : width == 2 ? 0xda : 0xdb);
      Big(size, width);
    }
    out_ += text;
  }
  void Container(std::uint32_t members, bool map) {
    if (members < 16) return Byte((map ? 0x80u : 0x90u) + members);
    const int width = members <= UINT16_MAX ? 2 : 4;
    Byte((map ? 0xdeu : 0xdcu) + (width == 4));
    Big(members, width);
  }
  std::string Take() { return std::move(out_); }

 private:
  void Unsigned(std::uint64_t value) {
    if (value < 0x80) return Byte(static_cast<unsigned>(value));
    const int size = value <= UINT8_MAX ? 1 : value <= UINT16_MAX ? 2 : value <= UINT32_MAX ? 4 : 8;
    Byte(0xccu + static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(size))));
    Big(value, size);
  }
  void Big(std::uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
      Byte(static_cast<unsigned>(value >> shift & 0xff));
  }
  std::string out_;
};

void AppendUtf8(std::string& text, std::uint32_t point) {
  const auto byte = [&](std::uint32_t bits) { text += static_cast<char>(bits); };
  if (point < 0x80) return byte(point);
  if (point < 0x800) {
    byte(0xc0 | point >> 6);
  } else if (point < 0x10000) {
    byte(0xe0 | point >> 12);
    byte(0x80 | (point >> 6 & 63));
  } else {
    byte(0xf0 | point >> 18);
    byte(0x80 | (point >> 12 & 63));
    byte(0x80 | (point >> 6 & 63));
  }
  byte(0x80 | (point & 63));
}

/// Reads what JSON.stringify writes; of other texts it takes more than RFC 8259 does, but never past their
/// end.
class JsonReader {
 public:
  explicit JsonReader(std::string_view json)
      : json_(json), counts_(CountMembers(json)), writer_(json.size()) {}

  Result<std::string> Document() {
    if (!Value()) return NoJson();
    while (!open_.empty()) {
      if (!AfterValue()) return NoJson();
    }
    SkipSpaces();
    if (at_ != json_.size()) return NoJson();
    return writer_.Take();
  }

 private:
  Result<std::string> NoJson() const {
    if (open_.size() == kMaxMsgpackDepth)
      return Fail(ErrorKind::kInvalid,
                  "it nests deeper than " + std::to_string(kMaxMsgpackDepth) + " levels");
    const std::string where = " at byte " + std::to_string(at_);
    if (too_large_) return Fail(ErrorKind::kInvalid, "it has a number larger than any double" + where);
    return Fail(ErrorKind::kInvalid, "it is no JSON" + where);
  }
  void SkipSpaces() {
    while (at_ < json_.size() && std::string_view(" \n\t\r").find(json_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool Take(char c) {
    if (at_ == json_.size() || json_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word, unsigned byte) {
    if (json_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    writer_.Byte(byte);
    return true;
  }

  /// Goes into the first members of containers until a scalar or an empty container is complete.
  bool Value() {
    for (;;) {
      SkipSpaces();
      if (at_ == json_.size()) return false;
      const char c = json_[at_];
      if (c == '[' || c == '{') {
        const bool map = c == '{';
        if (open_.size() == kMaxMsgpackDepth) return false;
        ++at_;
        writer_.Container(counts_[next_count_++], map);
        SkipSpaces();
        if (Take(map ? '}' : ']')) return true;
        open_.push_back(map);
        if (map && !Key()) return false;
        continue;
      }
      if (c == '"') return String();
      if (c == 't') return TakeWord("true", 0xc3);
      if (c == 'f') return TakeWord("false", 0xc2);
      if (c == 'n') return TakeWord("null", 0xc0);
      return Number();
    }
  }

  bool AfterValue() {
    const bool map = open_.back();
    SkipSpaces();
    if (Take(map ? '}' : ']')) {
      open_.pop_back();
      return true;
    }
    return Take(',') && (!map || Key()) && Value();
  }

  bool Key() {
    SkipSpaces();
    if (!String()) return false;
    SkipSpaces();
    return Take(':');
  }

  bool Number() {
    double value = 0;
    const char* const from = json_.data() + at_;
    if (*from != '-' && (*from < '0' || *from > '9')) return false;  // from_chars knows inf and nan
    const auto [end, error] = std::from_chars(from, json_.data() + json_.size(), value);
    // Of either kind: what is too near to 0 is 0, as for JSON.parse.
    if (error == std::errc::result_out_of_range) value = std::strtod(std::string(from, end).c_str(), nullptr);
    too_large_ = !std::isfinite(value);
    if ((error != std::errc() && error != std::errc::result_out_of_range) || too_large_) return false;
    at_ += static_cast<std::size_t>(end - from);
    const bool integer =
        std::trunc(value) == value && std::fabs(value) <= kMaxInteger && !(value == 0 && *from == '-');
    integer ? writer_.Integer(static_cast<std::int64_t>(value)) : writer_.Fraction(value);
    return true;
  }

  bool String() {
    if (!Take('"')) return false;
    const std::size_t end = json_.find_first_of("\"\\", at_);
    if (end == std::string_view::npos) return false;
    if (json_[end] == '"') {  // nothing to be unescaped
      writer_.Text(json_.substr(at_, end - at_));
      at_ = end + 1;
      return true;
    }
    std::string text;
    while (at_ < json_.size()) {
      const char c = json_[at_++];
      if (c == '"') {
        writer_.Text(text);
        return true;
      }
      if (c != '\\') {
        text += c;
      } else if (!Escape(text)) {
        return false;
      }
    }
    return false;
  }

  bool Escape(std::string& text) {
    if (at_ == json_.size()) return false;
    const char c = json_[at_++];
    if (c == 'u') return Unicode(text);
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t which = kNames.find(c);
    if (which == std::string_view::npos) return false;
    text += kMeanings[which];
    return true;
  }

  std::optional<std::uint32_t> FourDigits() {
    std::uint32_t unit = 0;
    if (json_.size() - at_ < 4) return std::nullopt;
    const char* const from = json_.data() + at_;
    if (std::from_chars(from, from + 4, unit, 16).ptr != from + 4) return std::nullopt;
    at_ += 4;
    return unit;
  }

  bool Unicode(std::string& text) {
    const auto unit = FourDigits();
    if (!unit) return false;
    std::uint32_t point = *unit;
    if (point >= 0xd800 && point < 0xdc00 && json_.substr(at_, 2) == "\\u") {
      const std::size_t second_at = at_;
      at_ += 2;
      const auto second = FourDigits();
      if (!second) return false;
      if (*second >= 0xdc00 && *second < 0xe000) {
        point = 0x10000 + ((point - 0xd800) << 10) + (*second - 0xdc00);
      } else {
        at_ = second_at;
      }
    }
    AppendUtf8(text, point >= 0xd800 && point < 0xe000 ? 0xfffd : point);
    return true;
  }

  const std::string_view json_;
  const std::vector<std::uint32_t> counts_;
  std::size_t next_count_ = 0;
  std::size_t at_ = 0;
  MsgpackWriter writer_;
  bool too_large_ = false;  // the number there
  std::vector<bool> open_;  // the containers around what is read: maps
};

}  // namespace

Result<std::string> MsgpackFromJson(std::string_view json) {
  return JsonReader(json).Document();
}

}  // namespace skerry
