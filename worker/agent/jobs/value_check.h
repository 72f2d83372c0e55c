// What an isolate sends as a value, by its job's encoding.
//
// Threads: pure functions. Errors: none.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/job.h"
#include "common/msgpack_json.h"
#include "common/text_check.h"

namespace skerry::agent {

inline bool IsValue(std::string_view bytes, Encoding encoding) {
  return encoding == Encoding::kJson ? IsJson(bytes, JsonLayout::kOneLine) : CheckMsgpack(bytes).has_value();
}

/// For the words of a verdict.
inline std::string_view WhatItIs(Encoding encoding) {
  return encoding == Encoding::kJson ? "JSON" : "JSON in MessagePack";
}

/// What limits count is the JSON text, which the isolate has measured; of MessagePack this much is sure.
inline std::uint64_t LeastTextBytes(std::string_view value, Encoding encoding) {
  return encoding == Encoding::kJson ? value.size() : LeastJsonBytes(value.size());
}

}  // namespace skerry::agent
