#include "common/wire/codec.h"

#include <concepts>
#include <msgpack.hpp>
#include <type_traits>

#include "common/wire/visitors.h"

namespace skerry::wire {
namespace {

// A header is a flat map with one nested map (limits) and short arrays; anything deeper is not ours.
constexpr std::size_t kMaxArray = 4096;
constexpr std::size_t kMaxMap = 64;
constexpr std::size_t kMaxDepth = 4;

const msgpack::unpack_limit& Bounds() {
  static const msgpack::unpack_limit limit(kMaxArray, kMaxMap, kMaxHeaderBytes, kMaxHeaderBytes, 0,
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
    return Fail(ErrorKind::kInvalid, "unknown message type '" + std::string(type.substr(0, 32)) + "'");
  } else {
    using Message = std::variant_alternative_t<I, Header>;
    if (type != Message::kType) return UnpackAs<I + 1>(type, map);
    auto message = Unpack<Message>(map);
    if (!message) return Fail(message.error());
    return Header(std::move(*message));
  }
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
