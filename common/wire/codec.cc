#include "common/wire/codec.h"

#include <concepts>
#include <msgpack.hpp>
#include <type_traits>

#include "common/wire/schema_writer.h"
#include "common/wire/visitors.h"

namespace skerry::wire {
namespace {

const msgpack::unpack_limit& Bounds() {
  static const msgpack::unpack_limit limit(kMaxArray, kMaxMapKeys, kMaxHeaderBytes, kMaxHeaderBytes, 0,
                                           kMaxDepth);
  return limit;
}

template <class Message>
void PackMap(Message& message, std::string_view type, msgpack::sbuffer& buffer) {
  FieldCounter counter;
  message.Visit(counter);
  msgpack::packer<msgpack::sbuffer> packer(buffer);
  packer.pack_map(counter.count() + (type.empty() ? 0 : 1));
  Encoder encoder(packer);
  if (!type.empty()) encoder.WriteText("t", type);
  message.Visit(encoder);
}

template <class Message>
Result<Message> Unpack(const msgpack::object_map& map) {
  Message message;
  FieldReader reader(Message::kType, map);
  message.Visit(reader);
  if (!reader.error().empty()) return Fail(ErrorKind::kInvalid, reader.error());
  return message;
}

template <std::size_t I = 0>
Result<Header> UnpackAs(std::string_view type, const msgpack::object_map& map) {
  if constexpr (I == std::variant_size_v<Header>) {
    return Fail(ErrorKind::kUnknownType, "unknown message type '" + std::string(type.substr(0, 32)) + "'");
  } else {
    using Message = std::variant_alternative_t<I, Header>;
    if (type != Message::kType) return UnpackAs<I + 1>(type, map);
    auto message = Unpack<Message>(map);
    if (!message) return Fail(message.error());
    return Header(std::move(*message));
  }
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
        return Fail(ErrorKind::kInvalid, "header has key '" + std::string(text(i).substr(0, 32)) + "' twice");
      }
    }
    // A map inside: limits.
    if (map.ptr[i].val.type == msgpack::type::MAP) {
      if (auto inner = CheckKeys(map.ptr[i].val.via.map); !inner) return inner;
    }
  }
  return {};
}

// Parses one bounded map that fills `bytes` exactly, or says why not.
Result<msgpack::object_handle> UnpackMap(std::string_view bytes) {
  if (bytes.size() > kMaxHeaderBytes) {
    return Fail(ErrorKind::kInvalid, "header of " + std::to_string(bytes.size()) + " bytes, at most " +
                                         std::to_string(kMaxHeaderBytes) + " allowed");
  }
  try {
    std::size_t used = 0;
    msgpack::object_handle handle =
        msgpack::unpack(bytes.data(), bytes.size(), used, nullptr, nullptr, Bounds());
    if (used != bytes.size()) return Fail(ErrorKind::kInvalid, "bytes after the header map");
    if (handle.get().type != msgpack::type::MAP) return Fail(ErrorKind::kInvalid, "header is not a map");
    if (auto keys = CheckKeys(handle.get().via.map); !keys) return Fail(keys.error());
    return handle;
  } catch (const std::exception& e) {
    return Fail(ErrorKind::kInvalid, std::string("header is not MessagePack within bounds: ") + e.what());
  }
}

template <std::size_t I = 0>
void AppendSchema(std::string& json) {
  if constexpr (I < std::variant_size_v<Header>) {
    using Message = std::variant_alternative_t<I, Header>;
    SchemaWriter writer(Message::kType);
    Message message;
    message.Visit(writer);
    if (I > 0) json += ",\n";
    json += writer.Json();
    AppendSchema<I + 1>(json);
  }
}

}  // namespace

std::string Encode(const Header& header) {
  msgpack::sbuffer buffer(256);
  std::visit(
      [&](const auto& message) {
        using Message = std::remove_cvref_t<decltype(message)>;
        // Visit is shared with the decoder and so takes a mutable reference; the encoder only reads.
        PackMap(const_cast<Message&>(message), Message::kType, buffer);
      },
      header);
  return std::string(buffer.data(), buffer.size());
}

Result<Header> Decode(std::string_view bytes) {
  auto handle = UnpackMap(bytes);
  if (!handle) return Fail(handle.error());
  const msgpack::object_map& map = handle->get().via.map;
  const msgpack::object* type = FindKey(map, "t");
  if (type == nullptr || type->type != msgpack::type::STR)
    return Fail(ErrorKind::kInvalid, "header has no type 't'");
  return UnpackAs(std::string_view(type->via.str.ptr, type->via.str.size), map);
}

std::string EncodeDetail(const ErrorDetail& detail) {
  msgpack::sbuffer buffer(256);
  PackMap(const_cast<ErrorDetail&>(detail), "", buffer);
  return std::string(buffer.data(), buffer.size());
}

Result<ErrorDetail> DecodeDetail(std::string_view bytes) {
  auto handle = UnpackMap(bytes);
  if (!handle) return Fail(handle.error());
  return Unpack<ErrorDetail>(handle->get().via.map);
}

std::string SchemaJson() {
  std::string json = "{\"version\": " + std::to_string(kVersion) + ", \"messages\": [\n";
  AppendSchema(json);
  json += "\n]}\n";
  return json;
}

}  // namespace skerry::wire
