// What walks a message's Visit list: counting, encoding, decoding; schema_writer.h describes. Private to the
// codec.
//
// An optional field that is zero or empty is left out, and a missing field keeps what its struct starts it
// at; so a field whose zero means something must start at zero. One that comes as zero or empty is read as
// missing: it must not mean one thing here and another where it is sent on to. Enums and flags are always
// written.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <msgpack.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/ids.h"
#include "common/job.h"
#include "common/limit_set.h"
#include "common/outcome.h"
#include "common/utf8.h"
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
inline std::optional<Reuse> ByName(std::string_view s, Reuse) {
  return ReuseByName(s);
}
inline std::optional<OnDisconnect> ByName(std::string_view s, OnDisconnect) {
  return OnDisconnectByName(s);
}
inline std::optional<Encoding> ByName(std::string_view s, Encoding) {
  return EncodingByName(s);
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
inline constexpr bool IsOptionalNumber = std::is_same_v<T, std::optional<std::uint64_t>>;

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
  void Required(std::string_view, const T&, Bound = {}) {
    ++count_;
  }
  template <class T>
  void Optional(std::string_view, const T& value, Bound = {}) {
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
  void Required(std::string_view key, const T& value, Bound = {}) {
    Text(key);
    Write(value);
  }
  template <class T>
  void Optional(std::string_view key, const T& value, Bound = {}) {
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
    } else if constexpr (IsOptionalNumber<T>) {
      packer_.pack(value.value_or(0));
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
  void Write(const std::vector<LeaseId>& leases) {
    packer_.pack_array(static_cast<std::uint32_t>(leases.size()));
    for (const LeaseId lease : leases) packer_.pack(lease.value());
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
  void Required(std::string_view key, T& value, Bound bound = {}) {
    const msgpack::object* object = FindKey(map_, key);
    if (object == nullptr) return Complain(key, "is missing");
    Read(key, *object, value, bound);
  }
  template <class T>
  void Optional(std::string_view key, T& value, Bound bound = {}) {
    const msgpack::object* object = FindKey(map_, key);
    if (object == nullptr) return;
    T given{};
    Read(key, *object, given, bound);
    if (!LeftOut(given)) value = std::move(given);
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

  static constexpr std::size_t kMaxBinary = 64;

 private:
  void Complain(std::string_view key, std::string_view what) {
    if (error_.empty()) error_ = std::string(type_) + "." + std::string(key) + " " + std::string(what);
  }
  bool Text(std::string_view key, const msgpack::object& object, std::string_view* text) {
    if (object.type != msgpack::type::STR) return Complain(key, "must be a string"), false;
    *text = std::string_view(object.via.str.ptr, object.via.str.size);
    // An error's texts are a program's own and are checked by whoever shows them.
    if (type_ != ErrorDetail::kType && !IsUtf8Header(*text)) return Complain(key, "is not UTF-8"), false;
    return true;
  }
  template <class T>
  void Read(std::string_view key, const msgpack::object& object, T& value, Bound bound) {
    std::string_view text;
    if constexpr (std::is_enum_v<T>) {
      if (!Text(key, object, &text)) return;
      if (auto found = ByName(text, T{})) {
        value = *found;
      } else {
        Complain(key, "has an unknown value");
      }
    } else if constexpr (IsOptionalNumber<T>) {
      // What a job asks for in vain is that job's VALIDATION, not the end of the link: its bound is checked
      // at admission, and what is no such number at all is past every bound.
      value = object.type == msgpack::type::POSITIVE_INTEGER ? object.via.u64 : UINT64_MAX;
    } else if constexpr (IsTextId<T>::value) {
      if (!Text(key, object, &text)) return;
      if (text.size() > kMaxIdBytes) return Complain(key, "is longer than 256 bytes");
      value = T(std::string(text));
    } else if constexpr (IsNumberId<T>::value) {
      std::uint64_t number = 0;
      ReadInteger(key, object, number, bound);
      value = T(number);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!Text(key, object, &text)) return;
      if (text.size() > bound.max)
        return Complain(key, "is longer than " + std::to_string(bound.max) + " bytes");
      value = std::string(text);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (object.type != msgpack::type::BOOLEAN) return Complain(key, "must be true or false");
      value = object.via.boolean;
    } else if constexpr (std::is_same_v<T, double>) {
      ReadDouble(key, object, value);
    } else if constexpr (std::is_integral_v<T>) {
      ReadInteger(key, object, value, bound);
    } else {
      ReadList(key, object, value, bound);
    }
  }
  void ReadDouble(std::string_view key, const msgpack::object& object, double& value) {
    if (object.type == msgpack::type::POSITIVE_INTEGER) {
      value = static_cast<double>(object.via.u64);
    } else if (object.type == msgpack::type::NEGATIVE_INTEGER) {
      value = static_cast<double>(object.via.i64);  // as msgpack-c writes a whole number
    } else if ((object.type == msgpack::type::FLOAT64 || object.type == msgpack::type::FLOAT32) &&
               std::isfinite(object.via.f64)) {
      value = object.via.f64;
    } else {
      Complain(key, "must be a finite number");
    }
  }
  template <class T>
  void ReadInteger(std::string_view key, const msgpack::object& object, T& value, Bound bound) {
    if (object.type == msgpack::type::POSITIVE_INTEGER &&
        object.via.u64 <= static_cast<std::uint64_t>(std::numeric_limits<T>::max()) &&
        object.via.u64 >= bound.min && object.via.u64 <= bound.max) {
      value = static_cast<T>(object.via.u64);
    } else if (std::is_signed_v<T> && object.type == msgpack::type::NEGATIVE_INTEGER &&
               object.via.i64 >= static_cast<std::int64_t>(std::numeric_limits<T>::min())) {
      value = static_cast<T>(object.via.i64);
    } else {
      Complain(key, "must be an integer in range");
    }
  }
  bool IsArray(std::string_view key, const msgpack::object& object, Bound bound) {
    if (object.type != msgpack::type::ARRAY) return Complain(key, "must be an array"), false;
    if (object.via.array.size > bound.max)
      return Complain(key, "has more than " + std::to_string(bound.max) + " entries"), false;
    return true;
  }
  void ReadList(std::string_view key, const msgpack::object& object, std::vector<std::string>& list,
                Bound bound) {
    if (!IsArray(key, object, bound)) return;
    std::string_view text;
    for (std::uint32_t i = 0; i < object.via.array.size; ++i) {
      if (!Text(key, object.via.array.ptr[i], &text)) return;
      if (text.size() > kMaxIdBytes) return Complain(key, "has an entry longer than 256 bytes");
      list.emplace_back(text);
    }
  }
  void ReadList(std::string_view key, const msgpack::object& object, std::vector<LeaseId>& list,
                Bound bound) {
    if (!IsArray(key, object, bound)) return;
    for (std::uint32_t i = 0; i < object.via.array.size; ++i) {
      std::uint64_t number = 0;
      ReadInteger(key, object.via.array.ptr[i], number, {});
      list.emplace_back(number);
    }
  }
  void ReadList(std::string_view key, const msgpack::object& object, RequestedLimits& limits, Bound) {
    if (object.type != msgpack::type::MAP) return Complain(key, "must be a map of limits");
    std::string_view name;
    for (std::uint32_t i = 0; i < object.via.map.size; ++i) {
      const msgpack::object_kv& kv = object.via.map.ptr[i];
      std::uint64_t number = 0;
      if (!Text(key, kv.key, &name)) return;
      ReadInteger(key, kv.val, number, {});
      limits.emplace_back(std::string(name), number);
    }
  }

  void ReadList(std::string_view key, const msgpack::object& object, NamedCounts& counts, Bound bound) {
    ReadList(key, object, counts.entries, bound);
  }
  void ReadList(std::string_view key, const msgpack::object& object, LimitSet& limits, Bound bound) {
    std::vector<std::string> names;
    ReadList(key, object, names, bound);
    for (const std::string& name : names) {
      if (const auto id = LimitByName(name)) limits.Add(*id);
    }
  }

  std::string_view type_;
  const msgpack::object_map& map_;
  std::string error_;
};

}  // namespace skerry::wire
