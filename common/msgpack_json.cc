#include "common/msgpack_json.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "common/utf8.h"

namespace skerry {
namespace {

constexpr std::uint64_t kMaxInteger = (std::uint64_t{1} << 53) - 1;

tl::unexpected<Error> Wrong(std::string why) {
  return Fail(ErrorKind::kInvalid, std::move(why));
}

/// Hears nothing: for checks.
struct Deaf {
  void Word(std::string_view) {}
  void Integer(std::int64_t) {}
  void Fraction(double) {}
  void Text(std::string_view) {}
  void Mark(char) {}
};

/// Writes JSON text on one line.
class JsonWriter {
 public:
  void Word(std::string_view word) { out_ += word; }
  void Integer(std::int64_t value) { Number(value); }
  void Fraction(double value) { Number(value); }
  void Mark(char mark) { out_ += mark; }
  void Text(std::string_view text) {
    out_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        constexpr char kDigits[] = "0123456789abcdef";
        out_ += "\\u00";
        out_ += kDigits[c >> 4];
        out_ += kDigits[c & 15];
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }
  std::string Take() { return std::move(out_); }

 private:
  template <class T>
  void Number(T value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out_.append(digits, end);
  }
  std::string out_;
};

/// Reads one value, telling `Sink` in the order of a JSON text.
template <class Sink>
class MsgpackReader {
 public:
  MsgpackReader(std::string_view bytes, Sink& sink) : bytes_(bytes), sink_(sink) {}

  Status Document() {
    do {
      const bool key = BeginItem();
      if (auto status = Item(key); !status) return status;
      while (!open_.empty() && open_.back().left == 0) {
        sink_.Mark(open_.back().map ? '}' : ']');
        open_.pop_back();
      }
    } while (!open_.empty());
    if (at_ != bytes_.size()) return Wrong("there are bytes behind the value");
    return {};
  }

 private:
  struct Open {
    std::uint64_t left;  ///< items still to come, keys among them
    bool map;
    bool begun;
  };

  /// Writes what stands before an item; true: it is a key.
  bool BeginItem() {
    if (open_.empty()) return false;
    Open& top = open_.back();
    const bool key = top.map && top.left % 2 == 0;
    --top.left;
    if (top.map && !key) {
      sink_.Mark(':');
    } else if (top.begun) {
      sink_.Mark(',');
    }
    top.begun = true;
    return key;
  }

  std::optional<std::uint64_t> Big(std::size_t count) {
    if (bytes_.size() - at_ < count) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[at_++]);
    return value;
  }

  Status Item(bool key) {
    const auto lead = Big(1);
    if (!lead) return CutShort();
    const auto byte = static_cast<unsigned>(*lead);
    if (byte >= 0xa0 && byte <= 0xbf) return Text(byte & 31);
    if (byte >= 0xd9 && byte <= 0xdb) return TextOf(Big(std::size_t{1} << (byte - 0xd9)));
    if (key) return Wrong("a map has a key that is no text");
    if (byte < 0x80) return Integer(static_cast<std::int64_t>(byte));
    if (byte >= 0xe0) return Integer(static_cast<std::int64_t>(byte) - 256);
    if (byte < 0x90) return Container(byte & 15, true);
    if (byte < 0xa0) return Container(byte & 15, false);
    switch (byte) {
      case 0xc0:
        return Word("null");
      case 0xc2:
        return Word("false");
      case 0xc3:
        return Word("true");
      case 0xca:
      case 0xcb:
        return Fraction(byte == 0xca ? 4 : 8);
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return Unsigned(std::size_t{1} << (byte - 0xcc));
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
        return Signed(std::size_t{1} << (byte - 0xd0));
      case 0xdc:
      case 0xdd:
        return ContainerOf(Big(byte == 0xdc ? 2 : 4), false);
      case 0xde:
      case 0xdf:
        return ContainerOf(Big(byte == 0xde ? 2 : 4), true);
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return Wrong("it has binary data");
      case 0xc1:
        return Wrong("it has the byte c1, which means nothing");
      default:
        return Wrong("it has an extension type");
    }
  }

  static Status CutShort() { return Wrong("it ends inside a value"); }

  Status Word(std::string_view word) {
    sink_.Word(word);
    return {};
  }
  Status Integer(std::int64_t value) {
    sink_.Integer(value);
    return {};
  }
  static Status TooLarge() {
    return Wrong("an integer is past 2^53 - 1, which no JavaScript number holds exactly");
  }
  Status Unsigned(std::size_t size) {
    const auto value = Big(size);
    if (!value) return CutShort();
    if (*value > kMaxInteger) return TooLarge();
    return Integer(static_cast<std::int64_t>(*value));
  }
  Status Signed(std::size_t size) {
    const auto bits = Big(size);
    if (!bits) return CutShort();
    const auto shift = static_cast<int>(64 - 8 * size);
    const std::int64_t value = static_cast<std::int64_t>(*bits << shift) >> shift;
    constexpr auto kMost = static_cast<std::int64_t>(kMaxInteger);
    if (value > kMost || value < -kMost) return TooLarge();
    return Integer(value);
  }
  Status Fraction(std::size_t size) {
    const auto bits = Big(size);
    if (!bits) return CutShort();
    const double value = size == 4
                             ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*bits)))
                             : std::bit_cast<double>(*bits);
    if (!std::isfinite(value)) return Wrong("a number is NaN or an infinity");
    sink_.Fraction(value);
    return {};
  }
  Status TextOf(std::optional<std::uint64_t> size) { return size ? Text(*size) : CutShort(); }
  Status Text(std::uint64_t size) {
    if (bytes_.size() - at_ < size) return CutShort();
    const std::string_view text = bytes_.substr(at_, size);
    at_ += size;
    if (!IsUtf8Header(text)) return Wrong("a text is not UTF-8");
    sink_.Text(text);
    return {};
  }
  Status ContainerOf(std::optional<std::uint64_t> size, bool map) {
    return size ? Container(*size, map) : CutShort();
  }
  Status Container(std::uint64_t size, bool map) {
    if (open_.size() == kMaxMsgpackDepth)
      return Wrong("it nests deeper than " + std::to_string(kMaxMsgpackDepth) + " levels");
    sink_.Mark(map ? '{' : '[');
    open_.push_back({map ? 2 * size : size, map, false});
    return {};
  }

  const std::string_view bytes_;
  std::size_t at_ = 0;
  Sink& sink_;
  std::vector<Open> open_;  // the containers around what is read
};

}  // namespace

Result<std::string> JsonFromMsgpack(std::string_view bytes) {
  JsonWriter writer;
  if (auto status = MsgpackReader(bytes, writer).Document(); !status) return Fail(status.error());
  return writer.Take();
}

Status CheckMsgpack(std::string_view bytes) {
  Deaf deaf;
  return MsgpackReader(bytes, deaf).Document();
}

}  // namespace skerry
