#include "common/wire/map_codec.h"

namespace skerry::wire {
namespace {

const msgpack::unpack_limit& Bounds() {
  static const msgpack::unpack_limit limit(kMaxArray, kMaxMapKeys, kMaxHeaderBytes, kMaxHeaderBytes, 0,
                                           kMaxDepth);
  return limit;
}

// Every key is a string and comes once: two readers must not see two messages in the same bytes.
Status CheckKeys(const msgpack::object_map& map) {
  const auto text = [&](std::uint32_t i) {
    return std::string_view(map.ptr[i].key.via.str.ptr, map.ptr[i].key.via.str.size);
  };
  for (std::uint32_t i = 0; i < map.size; ++i) {
    if (map.ptr[i].key.type != msgpack::type::STR) {
      return Fail(ErrorKind::kInvalid, "header has a key that is no string");
    }
    // At most 64 keys of a few bytes each: comparing all pairs costs less than any set would.
    for (std::uint32_t earlier = 0; earlier < i; ++earlier) {
      if (text(earlier) == text(i)) {
        const std::string key = PrintableAscii(std::string(text(i).substr(0, 32)));
        return Fail(ErrorKind::kInvalid, "header has key '" + key + "' twice");
      }
    }
    // A map inside: limits.
    if (map.ptr[i].val.type == msgpack::type::MAP) {
      if (auto inner = CheckKeys(map.ptr[i].val.via.map); !inner) return inner;
    }
  }
  return {};
}

}  // namespace

Result<msgpack::object_handle> UnpackMapAt(std::string_view bytes, std::size_t& used) {
  try {
    used = 0;
    msgpack::object_handle handle =
        msgpack::unpack(bytes.data(), bytes.size(), used, nullptr, nullptr, Bounds());
    if (handle.get().type != msgpack::type::MAP) return Fail(ErrorKind::kInvalid, "header is not a map");
    if (auto keys = CheckKeys(handle.get().via.map); !keys) return Fail(keys.error());
    return handle;
  } catch (const std::exception& e) {
    return Fail(ErrorKind::kInvalid, std::string("header is not MessagePack within bounds: ") + e.what());
  }
}

Result<msgpack::object_handle> UnpackMap(std::string_view bytes) {
  if (bytes.size() > kMaxHeaderBytes) {
    return Fail(ErrorKind::kInvalid, "header of " + std::to_string(bytes.size()) + " bytes, at most " +
                                         std::to_string(kMaxHeaderBytes) + " allowed");
  }
  std::size_t used = 0;
  auto handle = UnpackMapAt(bytes, used);
  if (handle && used != bytes.size()) return Fail(ErrorKind::kInvalid, "bytes after the header map");
  return handle;
}

Result<std::string_view> TypeOf(const msgpack::object_map& map) {
  const msgpack::object* type = FindKey(map, "t");
  if (type == nullptr || type->type != msgpack::type::STR)
    return Fail(ErrorKind::kInvalid, "header has no type 't'");
  return std::string_view(type->via.str.ptr, type->via.str.size);
}

}  // namespace skerry::wire
