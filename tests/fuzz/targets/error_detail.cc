// wire::DecodeDetail and ToOutcome: an error's texts, which come from an isolate and reach the client unread.
#include "common/wire/codec.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/targets/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace wire = skerry::wire;
  using skerry::fuzz::Demand;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  wire::Final final;
  final.code = skerry::Code::kRuntime;
  const skerry::Outcome outcome = wire::ToOutcome(final, bytes);
  Demand(outcome.error.has_value() && outcome.error->code == skerry::Code::kRuntime,
         "a damaged detail does not change the verdict");
  Demand(!outcome.error->name.empty(), "every error has a name");
  const auto detail = wire::DecodeDetail(bytes);
  if (!detail) {
    Demand(outcome.error->message.empty() && outcome.error->stack.empty(),
           "of a damaged detail nothing is taken");
    return 0;
  }
  Demand(outcome.error->message == detail->message && outcome.error->stack == detail->stack,
         "its texts arrive");
  const auto again = wire::DecodeDetail(wire::DetailPayload(*outcome.error));
  Demand(again && again->message == detail->message && again->stack == detail->stack &&
             again->line == detail->line && again->column == detail->column,
         "a detail survives the wire");
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  JobError error = MakeError(Code::kRuntime, "message");
  error.stack = "at f (1:2)";
  error.position = {1, 2};
  std::vector<std::string> seeds = LoadMalformed();
  seeds.push_back(wire::DetailPayload(error));
  return seeds;
}
