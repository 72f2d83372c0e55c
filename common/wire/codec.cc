#include "common/wire/codec.h"

#include <msgpack.hpp>
#include <type_traits>

#include "common/wire/map_codec.h"
#include "common/wire/schema_writer.h"

namespace skerry::wire {
namespace {

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
        PackMap(message, Message::kType, buffer);
      },
      header);
  return std::string(buffer.data(), buffer.size());
}

Result<Header> Decode(std::string_view bytes) {
  auto handle = UnpackMap(bytes);
  if (!handle) return Fail(handle.error());
  const msgpack::object_map& map = handle->get().via.map;
  const auto type = TypeOf(map);
  if (!type) return Fail(type.error());
  return UnpackAs<Header>(*type, map);
}

std::string EncodeDetail(const ErrorDetail& detail) {
  msgpack::sbuffer buffer(256);
  PackMap(detail, "", buffer);
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
