#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <utility>

#include "common/wire/stream.h"

namespace skerry::fuzz {
namespace {

constexpr std::array<std::string_view, kMutationCount> kNames = {
    "flip bits",   "truncate",    "extend",      "insert",           "edit length", "swap type",
    "swap value",  "nest deeply", "huge size",   "many keys",        "drop frame",  "duplicate frame",
    "swap frames", "add frames",  "empty frame", "foreign payloads", "replay",      "random bytes"};

// What MessagePack's decoder branches on: nil, never used, booleans, bin and ext and float and integer and
// str types, array and map, with the ends of their fixed forms.
constexpr std::string_view kTypeBytes(
    "\x00\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9\xca\xcb\xcc\xcd\xce\xcf"
    "\xd0\xd1\xd2\xd3\xd4\xd8\xd9\xda\xdb\xdc\xdd\xde\xdf\xe0\xff",
    39);

// Values of every kind, good and bad, as MessagePack.
constexpr std::array<std::string_view, 14> kValues = {
    std::string_view("\xc0", 1),                                  // nil
    std::string_view("\xc3", 1),                                  // true
    std::string_view("\x00", 1),                                  // 0
    std::string_view("\xff", 1),                                  // -1
    std::string_view("\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9),  // 2^64-1
    std::string_view("\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 9),  // -2^63
    std::string_view("\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", 9),  // NaN
    std::string_view("\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00", 9),  // infinity
    std::string_view("\xa0", 1),                                  // ""
    std::string_view("\xa2\xff\xfe", 3),                          // not UTF-8
    std::string_view("\xa4../.", 5),                              // text
    std::string_view("\x90", 1),                                  // []
    std::string_view("\x81\xa1k\x01", 4),                         // a map
    std::string_view("\xc4\x03"
                     "abc",
                     5)};  // binary

constexpr std::size_t kMostNesting = 20'000;
constexpr std::size_t kMostExtension = 300;

std::string Repeated(std::string_view unit, std::size_t times) {
  std::string all;
  all.reserve(unit.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += unit;
  return all;
}

}  // namespace

std::string_view NameOf(Mutation mutation) {
  return kNames[static_cast<std::size_t>(mutation)];
}

Frames Mutator::Mutate(const Frames& message) {
  Frames frames = message;
  const std::size_t layers = random_.OneIn(4) ? 1 + random_.Below(3) : 1;
  for (std::size_t i = 0; i < layers; ++i)
    frames = Apply(static_cast<Mutation>(random_.Below(kMutationCount)), frames);
  return frames;
}

Frames Mutator::Apply(Mutation mutation, const Frames& message) {
  if (message.empty()) return {random_.Bytes(random_.Below(100))};
  switch (mutation) {
    case Mutation::kFlipBits:
      return FlipBits(message);
    case Mutation::kTruncate:
    case Mutation::kExtend:
    case Mutation::kInsert:
    case Mutation::kEmptyFrame:
      return Resize(mutation, message);
    case Mutation::kEditLength:
    case Mutation::kSwapType:
    case Mutation::kSwapValue:
    case Mutation::kNestDeeply:
    case Mutation::kDeclareHugeSize:
    case Mutation::kManyKeys:
      return EditHeader(mutation, message);
    case Mutation::kDropFrame:
    case Mutation::kDuplicateFrame:
    case Mutation::kSwapFrames:
    case Mutation::kAddFrames:
    case Mutation::kForeignPayloads:
      return Rearrange(mutation, message);
    case Mutation::kReplay:
      return AnySample().frames;
    case Mutation::kRandomBytes: {
      Frames frames;
      for (std::size_t i = 0, count = 1 + random_.Below(4); i < count; ++i)
        frames.push_back(random_.Bytes(random_.Below(200)));
      return frames;
    }
  }
  return message;
}

Frames Mutator::FlipBits(Frames frames) {
  std::string& frame = AnyOf(frames);
  for (std::size_t i = 0, flips = 1 + random_.Below(8); i < flips && !frame.empty(); ++i) {
    char& byte = frame[random_.Below(frame.size())];
    byte = static_cast<char>(byte ^ (1 << random_.Below(8)));
  }
  return frames;
}

Frames Mutator::Resize(Mutation mutation, Frames frames) {
  std::string& frame = AnyOf(frames);
  if (mutation == Mutation::kTruncate) frame.resize(random_.Below(frame.size()));
  if (mutation == Mutation::kExtend) frame += random_.Bytes(1 + random_.Below(kMostExtension));
  if (mutation == Mutation::kInsert) {
    frame.insert(random_.Below(frame.size() + 1), random_.Bytes(1 + random_.Below(kMostExtension)));
  }
  if (mutation == Mutation::kEmptyFrame) frame.clear();
  return frames;
}

Frames Mutator::EditHeader(Mutation mutation, Frames frames) {
  std::string& header = frames[0];
  if (mutation == Mutation::kEditLength && !header.empty())
    header[random_.Below(header.size())] = kTypeBytes[random_.Below(kTypeBytes.size())];
  if (mutation == Mutation::kSwapType) header = Retyped(header, AnySample().type);
  if (mutation == Mutation::kSwapValue) header = SwapValue(std::move(header));
  if (mutation == Mutation::kNestDeeply) header = NestedHeader();
  if (mutation == Mutation::kDeclareHugeSize) header = HugeHeader();
  if (mutation == Mutation::kManyKeys) header = WideHeader();
  return frames;
}

Frames Mutator::Rearrange(Mutation mutation, Frames frames) {
  const std::size_t at = random_.Below(frames.size());
  if (mutation == Mutation::kDropFrame && frames.size() > 1)
    frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(at));
  if (mutation == Mutation::kDuplicateFrame) {
    const std::string copy = frames[at];
    frames.insert(frames.begin() + static_cast<std::ptrdiff_t>(at), copy);
  }
  if (mutation == Mutation::kSwapFrames) std::swap(frames[at], AnyOf(frames));
  if (mutation == Mutation::kAddFrames) {
    for (std::size_t i = 0, more = 1 + random_.Below(8); i < more; ++i)
      frames.push_back(random_.Bytes(random_.Below(50)));
  }
  if (mutation == Mutation::kForeignPayloads) {
    const Frames& other = AnySample().frames;
    frames.resize(1);
    frames.insert(frames.end(), other.begin() + 1, other.end());
  }
  return frames;
}

// A key keeps its name and gets a value of another kind: the strings of a header are its keys, mostly.
std::string Mutator::SwapValue(std::string header) {
  std::vector<std::size_t> ends;  // behind each short string
  for (std::size_t i = 0; i < header.size(); ++i) {
    const auto byte = static_cast<unsigned char>(header[i]);
    if (byte > 0xa0 && byte <= 0xaf && i + (byte & 0x1f) < header.size())
      ends.push_back(i + 1 + (byte & 0x1f));
  }
  if (ends.empty()) return header;
  const std::size_t at = ends[random_.Below(ends.size())];
  const std::string_view value = kValues[random_.Below(kValues.size())];
  return header.substr(0, at) + std::string(value) + header.substr(std::min(header.size(), at + 1));
}

std::string Mutator::NestedHeader() {
  const std::size_t depth = 1 + random_.Below(random_.OneIn(8) ? kMostNesting : 64);
  return random_.OneIn(2) ? Repeated("\x91", depth) : Repeated("\x81\xa1t", depth);
}

std::string Mutator::HugeHeader() {
  // Type byte, 32-bit size, nothing: map, array, str, bin, ext.
  constexpr std::string_view kWide("\xdf\xdd\xdb\xc6\xc9", 5);
  const std::string huge = std::string(1, kWide[random_.Below(kWide.size())]) + "\xff\xff\xff" +
                           random_.Bytes(1 + random_.Below(20));
  // At the top, or as the value of a key.
  return random_.OneIn(2) ? huge : "\x81\xa1t" + huge;
}

std::string Mutator::WideHeader() {
  // 65 keys are one too many; 5,000 entries are more than an array may have.
  if (random_.OneIn(2)) return std::string("\xde\x00\x41", 3) + Repeated("\xa1t\x01", 65);
  return std::string(
             "\x82\xa1t\xa3"
             "ack\xa3ids\xdc\x13\x88",
             15) +
         Repeated("\xa1x", 5'000);
}

std::string StreamOf(const Frames& message) {
  const std::vector<std::string_view> payloads(message.begin() + (message.empty() ? 0 : 1), message.end());
  const std::string header = message.empty() ? std::string() : message[0];
  const auto prefix = wire::StreamPrefix(header.size(), payloads);
  std::string bytes(prefix.data(), prefix.size());
  for (const std::string& frame : message) bytes += frame;
  return bytes;
}

std::string Mutator::MutateStream(const Frames& message) {
  if (random_.OneIn(2)) return StreamOf(Mutate(message));
  std::string bytes = StreamOf(message);
  switch (random_.Below(4)) {
    case 0:  // a size, or the version, or the count
      bytes[random_.Below(wire::kStreamPrefixBytes)] = static_cast<char>(random_.Next());
      break;
    case 1:  // sizes near 2^32
      for (std::size_t i = 4; i < wire::kStreamPrefixBytes; ++i)
        bytes[i] = static_cast<char>(0xf0 | random_.Below(16));
      break;
    case 2:
      bytes.resize(random_.Below(bytes.size()));
      break;
    default:
      bytes = random_.Bytes(1 + random_.Below(bytes.size() + 50));
      break;
  }
  return bytes;
}

}  // namespace skerry::fuzz
