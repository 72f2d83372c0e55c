// One log line's content: a constant message and fields, as text or as JSON.
//
//   message job=a1 tenant=t reason="it said \"no\"\n"
//   {...,"message":"message","job":"a1","tenant":"t","reason":"it said \"no\"\n"}
//
// Values can be hostile (a job id is any bytes): whatever they hold, they forge neither a line nor a field,
// move no terminal's cursor, and are cut at kMaxLogValue.
//
// Threads: pure. Errors: none; bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace skerry {

/// The longest value, in bytes; longer ones end in an ellipsis.
inline constexpr std::size_t kMaxLogValue = 512;

/// Text known when compiling: what is said never depends on a peer, and its address names the kind of line.
class LogText {
 public:
  consteval LogText(const char* text) : text_(text) {}
  constexpr const char* c_str() const { return text_; }

 private:
  const char* text_;
};

/// A key and its value; text is borrowed until the line is written. An empty text is left out.
class LogField {
 public:
  LogField(LogText key, std::string_view value) : key_(key), value_(value) {}
  LogField(LogText key, const std::string& value) : key_(key), value_(std::string_view(value)) {}
  LogField(LogText key, const char* value) : key_(key), value_(std::string_view(value)) {}
  LogField(LogText key, double value) : key_(key), value_(value) {}
  template <std::integral Number>
  LogField(LogText key, Number value) : key_(key), value_(static_cast<std::int64_t>(value)) {}
  LogField(LogText key, std::uint64_t value) : key_(key), value_(value) {}

  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double>;
  const char* key() const { return key_.c_str(); }
  const Value& value() const { return value_; }

 private:
  LogText key_;
  Value value_;
};

using LogFields = std::initializer_list<LogField>;

std::string LogLineText(LogText message, LogFields fields);
/// The members of the object, without its braces.
std::string LogLineJson(LogText message, LogFields fields);

}  // namespace skerry
