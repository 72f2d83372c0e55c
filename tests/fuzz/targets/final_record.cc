// agent::CheckFinal: an isolate's word on how its program ended.
//
// Input: maxResultBytes (a word), the FINAL header as a Script::Text, its payload.
#include "worker/agent/jobs/final_record.h"

#include "common/text_check.h"
#include "common/wire/codec.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/targets/target.h"

namespace {

using skerry::fuzz::Demand;

void CheckError(const skerry::JobError& error) {
  Demand(error.fault != skerry::Fault::kInfrastructure,
         "a program's end is never the infrastructure's fault");
  Demand(error.started, "who has a final has started");
  for (const std::string* text : {&error.message, &error.name, &error.stack}) {
    Demand(text->size() <= skerry::kMaxErrorBytes, "an error's texts are bounded");
    Demand(skerry::IsUtf8(*text), "an error's texts are UTF-8");
  }
  Demand(!error.name.empty(), "every error has a name");
  Demand(error.limit.empty() || skerry::LimitByName(error.limit), "a limit that tripped exists");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  skerry::fuzz::Script script(data, size);
  skerry::Limits limits;
  limits.Set(skerry::LimitId::kMaxResultBytes, 1 + script.Word());
  const auto header = skerry::wire::Decode(script.Text());
  if (!header) return 0;
  const auto* final = std::get_if<skerry::wire::Final>(&*header);
  if (final == nullptr) return 0;
  const std::string payload = script.Rest();
  const auto outcome = skerry::agent::CheckFinal(*final, payload, limits);
  if (!outcome) {
    Demand(!outcome.error().message.empty(), "a refusal says why");
    return 0;
  }
  Demand(outcome->ok() == final->ok, "a claim is taken or refused, not turned round");
  if (!outcome->ok()) {
    CheckError(*outcome->error);
    return 0;
  }
  Demand(outcome->value == payload, "a value is not changed");
  Demand(payload.size() <= limits.Get(skerry::LimitId::kMaxResultBytes), "a value is within maxResultBytes");
  Demand(skerry::IsJson(payload, skerry::JsonLayout::kOneLine), "a value is JSON on one line");
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  std::vector<std::string> seeds;
  const std::string bound = {'\x40', '\0'};
  const auto add = [&](const wire::Final& final, const std::string& payload) {
    seeds.push_back(bound + AsText(wire::Encode(final)) + payload);
  };
  wire::Final ok;
  ok.ok = true;
  add(ok, R"({"a":[1,-2.5e3,"\u00e9",null,true]})");
  for (int code = 0; code < kCodeCount; ++code) {
    for (const char* limit : {"", "memoryMb", "maxDataBytes", "maxResultBytes", "maxCodeBytes"}) {
      JobError error = MakeError(static_cast<Code>(code), "message", limit);
      error.stack = "at f (1:2)";
      Outcome outcome;
      outcome.error = error;
      add(wire::ToFinal(outcome), wire::DetailPayload(error));
    }
  }
  return seeds;
}
