// One message struct as a MessagePack map, and back: what every codec of ours stands on. Private to the
// codecs.
//
// Errors: what is malformed says which field and why. Every size and depth is bounded before anything is
// allocated. Threads: pure functions.
#pragma once

#include <cstddef>
#include <msgpack.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "common/printable.h"
#include "common/result.h"
#include "common/wire/visitors.h"

namespace skerry::wire {

/// Appends the message as one map; with the key `t` where `type` is not empty.
template <class Message>
void PackMap(const Message& message, std::string_view type, msgpack::sbuffer& buffer) {
  // Visit is shared with the decoder and so takes a mutable reference; the encoder only reads.
  auto& visited = const_cast<Message&>(message);
  FieldCounter counter;
  visited.Visit(counter);
  msgpack::packer<msgpack::sbuffer> packer(buffer);
  packer.pack_map(counter.count() + (type.empty() ? 0 : 1));
  Encoder encoder(packer);
  if (!type.empty()) encoder.WriteText("t", type);
  visited.Visit(encoder);
}

template <class Message>
Result<Message> Unpack(const msgpack::object_map& map) {
  Message message;
  FieldReader reader(Message::kType, map);
  message.Visit(reader);
  if (!reader.error().empty()) return Fail(ErrorKind::kInvalid, reader.error());
  return message;
}

/// The one of `Messages` (a variant) that has this type.
template <class Messages, std::size_t I = 0>
Result<Messages> UnpackAs(std::string_view type, const msgpack::object_map& map) {
  if constexpr (I == std::variant_size_v<Messages>) {
    return Fail(ErrorKind::kUnknownType,
                "unknown message type '" + PrintableAscii(std::string(type.substr(0, 32))) + "'");
  } else {
    using Message = std::variant_alternative_t<I, Messages>;
    if (type != Message::kType) return UnpackAs<Messages, I + 1>(type, map);
    auto message = Unpack<Message>(map);
    if (!message) return Fail(message.error());
    return Messages(std::move(*message));
  }
}

/// The bounded map that `bytes` begins with; `used` is how many bytes it has.
Result<msgpack::object_handle> UnpackMapAt(std::string_view bytes, std::size_t& used);
/// One bounded map that fills `bytes` exactly.
Result<msgpack::object_handle> UnpackMap(std::string_view bytes);
/// What `t` says.
Result<std::string_view> TypeOf(const msgpack::object_map& map);

}  // namespace skerry::wire
