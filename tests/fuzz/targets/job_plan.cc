// agent::PlanJob: a job as a client made it and the broker passed it on.
//
// Input: the largest memoryMb of the cells (a word), the DISPATCH as a Script::Text, code as one, input.
#include "worker/agent/jobs/job_plan.h"

#include "common/text_check.h"
#include "common/wire/codec.h"
#include "tests/fuzz/samples.h"
#include "tests/fuzz/targets/target.h"
#include "worker/agent/jobs/event_gate.h"

namespace {

using skerry::fuzz::Demand;

void CheckPlan(const skerry::agent::JobPlan& plan, std::uint64_t max_memory_mb) {
  for (const skerry::LimitSpec& spec : skerry::kLimitSpecs) {
    const std::uint64_t value = plan.limits.Get(spec.id);
    if (spec.default_value == skerry::kUnlimited && value == skerry::kUnlimited) continue;
    Demand(value >= spec.minimum && value <= spec.hard_maximum, "every limit is within its range");
  }
  Demand(plan.limits.memory_mb() <= max_memory_mb, "no job has more memory than the cells can give");
  Demand(plan.dispatch.job.memory_mb == plan.limits.memory_mb(), "admission counts what the job may have");
  Demand(plan.code.size() <= plan.limits.Get(skerry::LimitId::kMaxCodeBytes), "code is within maxCodeBytes");
  Demand(skerry::IsUtf8(plan.code) && skerry::IsUtf8(plan.input), "code and input are UTF-8");
  const auto again = skerry::ResolveLimits(plan.dispatch.job.limits, [] {
    skerry::Ceilings ceilings;
    for (const skerry::LimitSpec& spec : skerry::kLimitSpecs) ceilings.Set(spec.id, spec.hard_maximum);
    return ceilings;
  }());
  Demand(std::holds_alternative<skerry::Limits>(again) && std::get<skerry::Limits>(again) == plan.limits,
         "the isolate is told the same limits");
  Demand(!skerry::FaultInReproducibility(plan.dispatch.job), "seed and clock are within their bounds");
  Demand(skerry::wire::Decode(skerry::wire::Encode(plan.dispatch)).has_value(),
         "the isolate can read its job");
  Demand(skerry::agent::MaxFrameBytes(plan.limits) < (std::size_t{1} << 29), "no frame is out of all bounds");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  skerry::fuzz::Script script(data, size);
  const std::uint64_t max_memory_mb = script.Word();
  const auto header = skerry::wire::Decode(script.Text());
  if (!header) return 0;
  const auto* dispatch = std::get_if<skerry::wire::Dispatch>(&*header);
  if (dispatch == nullptr) return 0;
  std::vector<std::string> payloads = {script.Text()};
  if (!script.AtEnd()) payloads.push_back(script.Rest());
  const auto planned = skerry::agent::PlanJob(*dispatch, payloads, max_memory_mb);
  if (const auto* refused = std::get_if<skerry::JobError>(&planned)) {
    Demand(refused->code == skerry::Code::kValidation, "a job that cannot be planned is VALIDATION");
    Demand(refused->message.size() < 1024, "a refusal is short");
    return 0;
  }
  CheckPlan(std::get<skerry::agent::JobPlan>(planned), max_memory_mb);
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  std::vector<std::string> seeds;
  const auto add = [&](const std::string& header, const std::string& code, const std::string& input) {
    seeds.push_back(std::string("\0\x10", 2) + AsText(header) + AsText(code) + input);
  };
  for (const Sample& sample : OfType(LoadSamples(), "dispatch"))
    add(sample.frames[0], "return 1", "{\"x\":1}");
  wire::Dispatch dispatch;
  dispatch.lease = LeaseId(1);
  dispatch.job.id = JobId("j");
  for (const LimitSpec& spec : kLimitSpecs) {
    dispatch.job.limits = {{std::string(spec.name), spec.minimum}};
    add(wire::Encode(dispatch), "x", "1");
    dispatch.job.limits = {{std::string(spec.name), spec.hard_maximum + 1}};
    add(wire::Encode(dispatch), "x", "1");
  }
  return seeds;
}
