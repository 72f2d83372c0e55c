// wire::FrameReader: how messages are cut out of an isolate's byte stream, in whatever pieces it arrives.
//
// Input: the bound of a payload (a word), the size of the pieces (a byte), then the stream.
#include "common/wire/stream.h"

#include "tests/fuzz/mutator.h"
#include "tests/fuzz/targets/target.h"

namespace {

using skerry::fuzz::Demand;
namespace wire = skerry::wire;

struct Cut {
  std::string bytes;  // of the messages, as they would be sent on
  std::size_t messages = 0;
  bool broken = false;
};

void Drain(wire::FrameReader& reader, std::size_t bound, Cut& cut) {
  while (!cut.broken) {
    const std::size_t before = reader.buffered();
    auto frame = reader.Next();
    if (!frame) {
      cut.broken = true;
      Demand(!reader.Next(), "a broken stream stays broken");
    } else if (*frame) {
      ++cut.messages;
      std::vector<std::string_view> views;
      std::size_t size = wire::kStreamPrefixBytes + (*frame)->header.size();
      for (const std::string& payload : (*frame)->payloads) {
        Demand(payload.size() <= bound, "a payload is within its bound");
        views.push_back(payload);
        size += payload.size();
      }
      Demand(before - reader.buffered() == size, "a message takes its own bytes off the stream");
      const auto prefix = wire::StreamPrefix((*frame)->header.size(), views);
      cut.bytes.append(prefix.data(), prefix.size()).append((*frame)->header);
      for (const std::string_view view : views) cut.bytes += view;
    } else {
      Demand(reader.Missing() >= 1, "an unfinished message misses something");
      Demand(reader.buffered() + reader.Missing() <= wire::kStreamPrefixBytes + 0xffff + 2 * bound,
             "no more is waited for than a message may have");
      return;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  skerry::fuzz::Script script(data, size);
  const std::size_t bound = script.Word();
  const std::size_t piece = std::size_t{1} + script.Byte();
  const std::string stream = script.Rest();

  Cut whole;
  wire::FrameReader all(bound);
  all.Append(stream);
  Drain(all, bound, whole);
  Demand(stream.starts_with(whole.bytes), "messages are the stream's own bytes");

  Cut pieces;
  wire::FrameReader reader(bound);
  for (std::size_t at = 0; at < stream.size() && !pieces.broken; at += piece) {
    reader.Append(std::string_view(stream).substr(at, piece));
    Drain(reader, bound, pieces);
  }
  Demand(pieces.bytes == whole.bytes && pieces.messages == whole.messages, "pieces give the same messages");
  Demand(pieces.broken == whole.broken, "pieces break where the whole does");
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  const Samples samples = LoadSamples();
  std::string all = {'\0', '\x10', '\x06'};
  std::vector<std::string> seeds;
  for (const Sample& sample : samples) {
    seeds.push_back(std::string{'\0', '\x01', '\x10'} + StreamOf(sample.frames));
    all += StreamOf(sample.frames);
  }
  seeds.push_back(all);
  return seeds;
}
