// Describes a message's Visit list as JSON: key, type, whether required, default, bounds, values. Private to
// the codec.
//
// `min` and `max` bound a number's value, a text's or binary's bytes, a list's or map's entries; where a
// field has none, its type bounds it (uint: 64 bits).
#pragma once

#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/ids.h"
#include "common/job.h"
#include "common/outcome.h"
#include "common/wire/visitors.h"

namespace skerry::wire {

constexpr int LastOf(Mode) {
  return static_cast<int>(Mode::kModule);
}
constexpr int LastOf(Retry) {
  return static_cast<int>(Retry::kAlways);
}
constexpr int LastOf(Admission) {
  return static_cast<int>(Admission::kFailFast);
}
constexpr int LastOf(Reuse) {
  return static_cast<int>(Reuse::kContext);
}
constexpr int LastOf(OnDisconnect) {
  return static_cast<int>(OnDisconnect::kCancel);
}
constexpr int LastOf(Encoding) {
  return static_cast<int>(Encoding::kMsgpack);
}
constexpr int LastOf(Level) {
  return static_cast<int>(Level::kAssert);
}
constexpr int LastOf(EventType) {
  return static_cast<int>(EventType::kStatus);
}
constexpr int LastOf(Code) {
  return kCodeCount - 1;
}
constexpr int LastOf(Fault) {
  return static_cast<int>(Fault::kInfrastructure);
}
constexpr int LastOf(Role) {
  return static_cast<int>(Role::kWorker);
}
constexpr int LastOf(AnswerKind) {
  return static_cast<int>(AnswerKind::kRefused);
}

class SchemaWriter {
 public:
  explicit SchemaWriter(std::string_view type)
      : json_("  {\"type\": \"" + std::string(type) + "\", \"fields\": [") {}

  template <class T>
  void Required(std::string_view key, const T& value, Bound bound = {}) {
    Field(key, TypeName<T>(), true, value, bound);
  }
  template <class T>
  void Optional(std::string_view key, const T& value, Bound bound = {}) {
    Field(key, TypeName<T>(), false, value, bound);
  }
  void OptionalBinary(std::string_view key, const std::string& value) {
    Field(key, "binary", false, value, UpTo(FieldReader::kMaxBinary));
  }
  std::string Json() const { return json_ + "]}"; }

 private:
  template <class T>
  static constexpr std::string_view TypeName() {
    if constexpr (std::is_enum_v<T>) return "enum";
    if constexpr (IsTextId<T>::value) return "id";
    if constexpr (IsNumberId<T>::value || IsOptionalNumber<T>) return "uint";
    if constexpr (std::is_same_v<T, std::string>) return "string";
    if constexpr (std::is_same_v<T, bool>) return "bool";
    if constexpr (std::is_same_v<T, double>) return "number";
    if constexpr (std::is_same_v<T, RequestedLimits>) return "limits";
    if constexpr (std::is_same_v<T, NamedCounts>) return "counts";
    if constexpr (std::is_same_v<T, std::vector<LeaseId>>) return "uints";
    if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? "int" : "uint";
    return "strings";
  }
  template <class T>
  static constexpr bool IsMap() {
    return std::is_same_v<T, RequestedLimits> || std::is_same_v<T, NamedCounts>;
  }
  /// The value that a missing field has; only optional fields have one.
  template <class T>
  static std::string Default(const T& value) {
    if constexpr (IsOptionalNumber<T>) {
      return value ? std::to_string(*value) : "null";
    } else if constexpr (std::is_enum_v<T>) {
      return Quoted(NameOf(value));
    } else if constexpr (IsTextId<T>::value) {
      return Quoted(value.str());
    } else if constexpr (IsNumberId<T>::value) {
      return std::to_string(value.value());
    } else if constexpr (std::is_same_v<T, std::string>) {
      return Quoted(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      return value ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<T>) {
      std::ostringstream text;
      text << +value;
      return text.str();
    } else {
      return IsMap<T>() ? "{}" : "[]";
    }
  }
  template <class T>
  void Bounds(Bound bound) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      json_ += ", \"min\": " + std::to_string(std::numeric_limits<T>::min());
    } else if (bound.min > 0) {
      json_ += ", \"min\": " + std::to_string(bound.min);
    }
    std::uint64_t max = bound.max;
    if constexpr (IsTextId<T>::value) max = std::min<std::uint64_t>(max, kMaxIdBytes);
    if constexpr (IsMap<T>()) max = std::min<std::uint64_t>(max, kMaxMapKeys);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      max = std::min<std::uint64_t>(max, std::numeric_limits<T>::max());
    if (max != UINT64_MAX) json_ += ", \"max\": " + std::to_string(max);
  }
  template <class T>
  void Field(std::string_view key, std::string_view type, bool required, const T& value, Bound bound) {
    if (json_.back() != '[') json_ += ", ";
    json_ += "{\"key\": " + Quoted(key) + ", \"type\": " + Quoted(type) +
             ", \"required\": " + (required ? "true" : "false");
    if (!required) json_ += ", \"default\": " + Default(value);
    Bounds<T>(bound);
    if constexpr (std::is_enum_v<T>) {
      json_ += ", \"values\": [";
      for (int i = 0; i <= LastOf(T{}); ++i) {
        json_ += (i > 0 ? ", " : "") + Quoted(NameOf(static_cast<T>(i)));
      }
      json_ += "]";
    }
    json_ += "}";
  }
  // Names and defaults of our own: nothing in them needs escaping.
  static std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

  std::string json_;
};

}  // namespace skerry::wire
