// What walks a message's Visit list: counting, encoding, decoding, describing. Private to the codec.
//
// An optional field that is zero or empty is left out, and a missing field keeps what its struct starts it
// at; so a field whose zero means something must start at zero. Enums and flags are always written.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <msgpack.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/ids.h"
#include "common/job.h"
#include "common/limit_set.h"
#include "common/outcome.h"
#include "common/wire/messages.h"

namespace skerry::wire {

inline std::optional<Mode> ByName(std::string_view s, Mode) {
  return ModeByName(s);
}
inline std::optional<Retry> ByName(std::string_view s, Retry) {
  return RetryByName(s);
}
inline std::optional<Admission> ByName(std::string_view s, Admission) {
  return AdmissionByName(s);
}
inline std::optional<Level> ByName(std::string_view s, Level) {
  return LevelByName(s);
}
inline std::optional<EventType> ByName(std::string_view s, EventType) {
  return EventTypeByName(s);
}
inline std::optional<Code> ByName(std::string_view s, Code) {
  return CodeByName(s);
}
inline std::optional<Fault> ByName(std::string_view s, Fault) {
  return FaultByName(s);
}
inline std::optional<Role> ByName(std::string_view s, Role) {
  return RoleByName(s);
}
inline std::optional<AnswerKind> ByName(std::string_view s, AnswerKind) {
  return AnswerKindByName(s);
}

template <class T>
struct IsTextId : std::false_type {};
template <class Tag>
struct IsTextId<TextId<Tag>> : std::true_type {};
template <class T>
struct IsNumberId : std::false_type {};
template <class Tag>
struct IsNumberId<NumberId<Tag>> : std::true_type {};

template <class T>
bool LeftOut(const T& value) {
  if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
    return false;
  } else {
    return value == T{};
  }
}

inline const msgpack::object* FindKey(const msgpack::object_map& map, std::string_view key) {
  for (std::uint32_t i = 0; i < map.size; ++i) {
    const msgpack::object& k = map.ptr[i].key;
    if (k.type == msgpack::type::STR && std::string_view(k.via.str.ptr, k.via.str.size) == key)
      return &map.ptr[i].val;
  }
  return nullptr;
}

class FieldCounter {
 public:
  template <class T>
  void Required(std::string_view, const T&) {
    ++count_;
  }
  template <class T>
  void Optional(std::string_view, const T& value) {
    if (!LeftOut(value)) ++count_;
  }
  void OptionalBinary(std::string_view, const std::string& value) {
    if (!value.empty()) ++count_;
  }
  std::uint32_t count() const { return count_; }

 private:
  std::uint32_t count_ = 0;
};

class Encoder {
 public:
  explicit Encoder(msgpack::packer<msgpack::sbuffer>& packer) : packer_(packer) {}

  template <class T>
  void Required(std::string_view key, const T& value) {
    Text(key);
    Write(value);
  }
  template <class T>
  void Optional(std::string_view key, const T& value) {
    if (!LeftOut(value)) Required(key, value);
  }
  void OptionalBinary(std::string_view key, const std::string& value) {
    if (value.empty()) return;
    Text(key);
    packer_.pack_bin(static_cast<std::uint32_t>(value.size()));
    packer_.pack_bin_body(value.data(), static_cast<std::uint32_t>(value.size()));
  }
  void WriteText(std::string_view key, std::string_view value) {
    Text(key);
    Text(value);
  }

 private:
  void Text(std::string_view text) {
    packer_.pack_str(static_cast<std::uint32_t>(text.size()));
    packer_.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
  }
  template <class T>
  void Write(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      Text(NameOf(value));
    } else if constexpr (IsTextId<T>::value) {
      Text(value.str());
    } else if constexpr (IsNumberId<T>::value) {
      packer_.pack(value.value());
    } else if constexpr (std::is_same_v<T, std::string>) {
      Text(value);
    } else {
      packer_.pack(value);
    }
  }
  void Write(const RequestedLimits& limits) {
    packer_.pack_map(static_cast<std::uint32_t>(limits.size()));
    for (const auto& [name, value] : limits) {
      Text(name);
      packer_.pack(value);
    }
  }
  void Write(const NamedCounts& counts) { Write(counts.entries); }
  void Write(const LimitSet& limits) {
    std::vector<std::string> names;
    for (const LimitSpec& spec : kLimitSpecs) {
      if (limits.Has(spec.id)) names.emplace_back(spec.name);
    }
    packer_.pack(names);
  }

  msgpack::packer<msgpack::sbuffer>& packer_;
};

class FieldReader {
 public:
  FieldReader(std::string_view type, const msgpack::object_map& map) : type_(type), map_(map) {}

  template <class T>
  void Required(std::string_view key, T& value) {
    const msgpack::object* object = FindKey(map_, key);
    if (object == nullptr) return Complain(key, "is missing");
    Read(key, *object, value);
  }
  template <class T>
  void Optional(std::string_view key, T& value) {
    if (const msgpack::object* object = FindKey(map_, key)) Read(key, *object, value);
  }
  void OptionalBinary(std::string_view key, std::string& value) {
    const msgpack::object* object = FindKey(map_, key);
    if (object == nullptr) return;
    if (object->type != msgpack::type::BIN || object->via.bin.size > kMaxBinary) {
      return Complain(key, "must be binary of at most 64 bytes");
    }
    value.assign(object->via.bin.ptr, object->via.bin.size);
  }
  const std::string& error() const { return error_; }

 private:
  static constexpr std::size_t kMaxBinary = 64;

  void Complain(std::string_view key, std::string_view what) {
    if (error_.empty()) error_ = std::string(type_) + "." + std::string(key) + " " + std::string(what);
  }
  bool Text(std::string_view key, const msgpack::object& object, std::string_view* text) {
    if (object.type != msgpack::type::STR) return Complain(key, "must be a string"), false;
    *text = std::string_view(object.via.str.ptr, object.via.str.size);
    return true;
  }
  template <class T>
  void Read(std::string_view key, const msgpack::object& object, T& value) {
    std::string_view text;
    if constexpr (std::is_enum_v<T>) {
      if (!Text(key, object, &text)) return;
      if (auto found = ByName(text, T{})) {
        value = *found;
      } else {
        Complain(key, "has an unknown value");
      }
    } else if constexpr (IsTextId<T>::value) {
      if (!Text(key, object, &text)) return;
      if (text.size() > kMaxIdBytes) return Complain(key, "is longer than 256 bytes");
      value = T(std::string(text));
    } else if constexpr (IsNumberId<T>::value) {
      std::uint64_t number = 0;
      Read(key, object, number);
      value = T(number);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (Text(key, object, &text)) value = std::string(text);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (object.type != msgpack::type::BOOLEAN) return Complain(key, "must be true or false");
      value = object.via.boolean;
    } else if constexpr (std::is_same_v<T, double>) {
      ReadDouble(key, object, value);
    } else if constexpr (std::is_integral_v<T>) {
      ReadInteger(key, object, value);
    } else {
      ReadList(key, object, value);
    }
  }
  void ReadDouble(std::string_view key, const msgpack::object& object, double& value) {
    if (object.type == msgpack::type::POSITIVE_INTEGER) {
      value = static_cast<double>(object.via.u64);
    } else if ((object.type == msgpack::type::FLOAT64 || object.type == msgpack::type::FLOAT32) &&
               std::isfinite(object.via.f64)) {
      value = object.via.f64;
    } else {
      Complain(key, "must be a finite number");
    }
  }
  template <class T>
  void ReadInteger(std::string_view key, const msgpack::object& object, T& value) {
    if (object.type == msgpack::type::POSITIVE_INTEGER &&
        object.via.u64 <= static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
      value = static_cast<T>(object.via.u64);
    } else if (std::is_signed_v<T> && object.type == msgpack::type::NEGATIVE_INTEGER &&
               object.via.i64 >= static_cast<std::int64_t>(std::numeric_limits<T>::min())) {
      value = static_cast<T>(object.via.i64);
    } else {
      Complain(key, "must be an integer in range");
    }
  }
  void ReadList(std::string_view key, const msgpack::object& object, std::vector<std::string>& list) {
    if (object.type != msgpack::type::ARRAY) return Complain(key, "must be an array of strings");
    std::string_view text;
    for (std::uint32_t i = 0; i < object.via.array.size; ++i) {
      if (!Text(key, object.via.array.ptr[i], &text)) return;
      list.emplace_back(text);
    }
  }
  void ReadList(std::string_view key, const msgpack::object& object, RequestedLimits& limits) {
    if (object.type != msgpack::type::MAP) return Complain(key, "must be a map of limits");
    std::string_view name;
    for (std::uint32_t i = 0; i < object.via.map.size; ++i) {
      const msgpack::object_kv& kv = object.via.map.ptr[i];
      std::uint64_t number = 0;
      if (!Text(key, kv.key, &name)) return;
      Read(key, kv.val, number);
      limits.emplace_back(std::string(name), number);
    }
  }

  void ReadList(std::string_view key, const msgpack::object& object, NamedCounts& counts) {
    ReadList(key, object, counts.entries);
  }
  void ReadList(std::string_view key, const msgpack::object& object, LimitSet& limits) {
    std::vector<std::string> names;
    ReadList(key, object, names);
    for (const std::string& name : names) {
      if (const auto id = LimitByName(name)) limits.Add(*id);
    }
  }

  std::string_view type_;
  const msgpack::object_map& map_;
  std::string error_;
};

class SchemaWriter {
 public:
  explicit SchemaWriter(std::string_view type)
      : json_("  {\"type\": \"" + std::string(type) + "\", \"fields\": [") {}

  template <class T>
  void Required(std::string_view key, const T&) {
    Field(key, TypeName<T>(), "true");
  }
  template <class T>
  void Optional(std::string_view key, const T&) {
    Field(key, TypeName<T>(), "false");
  }
  void OptionalBinary(std::string_view key, const std::string&) { Field(key, "binary", "false"); }
  std::string Json() const { return json_ + "]}"; }

 private:
  template <class T>
  static constexpr std::string_view TypeName() {
    if constexpr (std::is_enum_v<T>) return "enum";
    if constexpr (IsTextId<T>::value) return "id";
    if constexpr (IsNumberId<T>::value) return "uint";
    if constexpr (std::is_same_v<T, std::string>) return "string";
    if constexpr (std::is_same_v<T, bool>) return "bool";
    if constexpr (std::is_same_v<T, double>) return "number";
    if constexpr (std::is_same_v<T, RequestedLimits>) return "limits";
    if constexpr (std::is_same_v<T, NamedCounts>) return "counts";
    if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? "int" : "uint";
    return "strings";
  }
  void Field(std::string_view key, std::string_view type, std::string_view required) {
    if (json_.back() != '[') json_ += ", ";
    json_ += "{\"key\": \"" + std::string(key) + "\", \"type\": \"" + std::string(type) +
             "\", \"required\": " + std::string(required) + "}";
  }
  std::string json_;
};

}  // namespace skerry::wire
