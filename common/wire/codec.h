// Headers to MessagePack and back. Unknown keys are ignored; missing ones keep their defaults unless
// required.
//
//   std::string bytes = Encode(Accepted{id});
//   Result<Header> header = Decode(bytes);
//
// Errors: Decode names the message and field at fault; kUnknownType where only its type is not known here.
// Every size and depth is bounded before anything is allocated. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "common/wire/messages.h"

namespace skerry::wire {

std::string Encode(const Header& header);
Result<Header> Decode(std::string_view bytes);

/// The same map encoding, without a type, for payloads of our own.
std::string EncodeDetail(const ErrorDetail& detail);
Result<ErrorDetail> DecodeDetail(std::string_view bytes);

/// The tables of messages.h as JSON: every message with its fields, their types, bounds and defaults.
std::string SchemaJson();

}  // namespace skerry::wire
