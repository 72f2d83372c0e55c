// wire::Decode: what any peer says first in every message.
#include <variant>

#include "common/wire/codec.h"
#include "common/wire/stats.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/targets/target.h"

namespace {

using skerry::fuzz::Demand;
namespace wire = skerry::wire;

void CheckNumber(wire::Header header) {
  const std::uint64_t before = wire::SeqOf(header);
  constexpr std::uint64_t kOther = 0x1234'5678'9abcull;
  if (wire::SetSeq(header, kOther)) {
    Demand(wire::SeqOf(header) == kOther, "a number that is set can be read");
  } else {
    Demand(before == 0 && wire::SeqOf(header) == 0, "a message without a number has none");
  }
}

void CheckStats(const wire::Stats& stats) {
  const skerry::WorkerStats figures = wire::FromStats(stats);
  Demand(wire::FromStats(wire::ToStats(figures)) == figures, "a worker's figures survive the wire");
}

void CheckBounds(const wire::Header& header) {
  if (const auto* submit = std::get_if<wire::Submit>(&header)) {
    Demand(submit->job.id.str().size() <= skerry::kMaxIdBytes, "an id is within its bound");
    Demand(submit->job.limits.size() <= wire::kMaxMapKeys, "limits are within their bound");
  }
  if (const auto* hello = std::get_if<wire::Hello>(&header)) {
    Demand(hello->leases.size() <= wire::kMaxArray, "leases are within their bound");
    Demand(hello->capabilities.size() <= 64 && hello->software.size() <= 256, "a HELLO is within its bounds");
  }
  if (const auto* ack = std::get_if<wire::Ack>(&header))
    Demand(ack->ids.size() <= wire::kMaxArray, "ids are within their bound");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto header = wire::Decode(bytes);
  if (!header) {
    Demand(!header.error().message.empty(), "a refusal says why");
    return 0;
  }
  Demand(size <= wire::kMaxHeaderBytes, "nothing over the bound is decoded");
  CheckNumber(*header);
  CheckBounds(*header);
  if (const auto* stats = std::get_if<wire::Stats>(&*header)) CheckStats(*stats);
  const std::string written = wire::Encode(*header);
  // Relayed it may have grown, by numbers and by what is always written; at the bound that may pass it.
  if (written.size() > wire::kMaxHeaderBytes) return 0;
  const auto again = wire::Decode(written);
  Demand(again.has_value(), "what was decoded can be sent on");
  Demand(again->index() == header->index(), "it stays the same message");
  Demand(wire::Encode(*again) == written, "it says the same when it is read again");
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  std::vector<std::string> seeds = LoadMalformed();
  for (const Sample& sample : LoadSamples()) seeds.push_back(sample.frames[0]);
  // {"t": "final", "ok": true, "attempt": 0}
  seeds.push_back(
      std::string("\x83\xa1t\xa5"
                  "final\xa2ok\xc3\xa7"
                  "attempt\0",
                  22));
  return seeds;
}
