// Wrong messages made from right ones, the same for the same seed.
//
//   Mutator mutator(samples, seed);
//   Frames wrong = mutator.Mutate(samples.at("submit"));      // over ZeroMQ: header, payloads
//   std::string bytes = mutator.MutateStream(samples.at("event"));   // over an isolate's socket
//
// Threads: one owner each. Errors: none; a mutation may by chance be a right message.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/random.h"
#include "tests/fuzz/samples.h"

namespace skerry::fuzz {

enum class Mutation : std::uint8_t {
  kFlipBits,         ///< 1 to 8 bits of one frame
  kTruncate,         ///< one frame loses its end
  kExtend,           ///< one frame gains random bytes at its end
  kInsert,           ///< random bytes in the middle of one frame
  kEditLength,       ///< a byte of the header becomes a MessagePack length or type byte
  kSwapType,         ///< the header of this message under the name of another
  kSwapValue,        ///< a key's value replaced by one of another kind
  kNestDeeply,       ///< a header of arrays in arrays, or maps in maps
  kDeclareHugeSize,  ///< a header that declares gigabytes, with nothing behind it
  kManyKeys,         ///< more keys, or a longer array, than any header has
  kDropFrame,        ///< one frame is missing
  kDuplicateFrame,   ///< one frame comes twice
  kSwapFrames,       ///< two frames have changed places
  kAddFrames,        ///< 1 to 8 more than there should be
  kEmptyFrame,       ///< one frame is empty
  kForeignPayloads,  ///< a right header with another message's payloads
  kReplay,           ///< another message as it is: right, but not now
  kRandomBytes,      ///< frames of nothing but random bytes
};
inline constexpr std::size_t kMutationCount = 18;
std::string_view NameOf(Mutation mutation);

class Mutator {
 public:
  /// `samples` outlives it and holds at least one message.
  Mutator(const Samples& samples, std::uint64_t seed) : samples_(samples), random_(seed) {}

  Frames Apply(Mutation mutation, const Frames& message);
  /// One mutation, or up to three on top of each other.
  Frames Mutate(const Frames& message);
  /// A mutation of the message behind a right prefix, or the message behind a wrong one, or wrong bytes.
  std::string MutateStream(const Frames& message);

  Random& random() { return random_; }

 private:
  Frames FlipBits(Frames frames);
  Frames Resize(Mutation mutation, Frames frames);
  Frames EditHeader(Mutation mutation, Frames frames);
  Frames Rearrange(Mutation mutation, Frames frames);
  std::string NestedHeader();
  std::string HugeHeader();
  std::string WideHeader();
  std::string SwapValue(std::string header);
  const Sample& AnySample() { return samples_[random_.Below(samples_.size())]; }
  std::string& AnyOf(Frames& frames) { return frames[random_.Below(frames.size())]; }

  const Samples& samples_;
  Random random_;
};

/// Prefix, header and payloads as they are; more than two payloads are counted as they are, too.
std::string StreamOf(const Frames& message);

}  // namespace skerry::fuzz
