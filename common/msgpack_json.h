// JSON values in MessagePack, for jobs with `encoding: "msgpack"`: to and from JSON text, and checked without
// either.
//
// What JSON has and nothing more: nil, booleans, numbers, text, arrays, and maps whose keys are text. Binary
// data, extension types (timestamps), other keys, NaN, infinities, and integers past 2^53 - 1 either way,
// which JavaScript could not hold, are errors rather than something near them.
//
// Threads: pure functions. No recursion: depth costs memory, 16 bytes a level, and is bounded; sizes are
// those of the input. Errors: kInvalid, with what is wrong: "is no JSON value in MessagePack: " and then
// this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"

namespace skerry {

/// More than twice what V8's stack lets JSON.stringify write, so that only inputs and answers can meet it.
inline constexpr std::size_t kMaxMsgpackDepth = 20'000;

/// Exactly one value, in `bytes` from end to end. Any of MessagePack's forms of a number or a length is
/// taken.
Result<std::string> JsonFromMsgpack(std::string_view bytes);
Status CheckMsgpack(std::string_view bytes);
/// In the shortest forms; a number that is no integer within 2^53 - 1 is a float 64. A lone surrogate
/// (`"\ud800"`), which UTF-8 has not, becomes U+FFFD.
Result<std::string> MsgpackFromJson(std::string_view json);

/// What MsgpackFromJson makes of a JSON text is at most this many times its size: a fraction of three
/// characters is nine bytes.
inline constexpr std::uint64_t kMsgpackGrowth = 3;
/// The fewest bytes of JSON text that can have come to so many of MessagePack.
constexpr std::uint64_t LeastJsonBytes(std::uint64_t msgpack_bytes) {
  return msgpack_bytes / kMsgpackGrowth + (msgpack_bytes % kMsgpackGrowth != 0);
}

}  // namespace skerry
