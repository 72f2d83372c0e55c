#include "worker/agent/jobs/final_record.h"

#include <array>
#include <string_view>
#include <utility>

#include "common/text_check.h"
#include "common/units.h"
#include "common/utf8.h"
#include "common/wire/codec.h"
#include "worker/agent/jobs/value_check.h"

namespace skerry::agent {
namespace {

constexpr Bytes kMaxHeap = Bytes::MiB(SpecOf(LimitId::kMemoryMb).hard_maximum);

// What an isolate may claim: a fault that goes with the code (an infrastructure fault would buy it a re-run),
// and a limit that can trip there.
bool MayClaim(const wire::Final& final) {
  const std::string_view limit = final.limit;
  switch (final.code) {
    case Code::kCompile:
    case Code::kRuntime:
      return final.fault == Fault::kProgram && limit.empty();
    case Code::kLimit:
      return final.fault == Fault::kLimit &&
             (limit == NameOf(LimitId::kMaxDataRequests) || limit == NameOf(LimitId::kMaxDataBytes) ||
              limit == NameOf(LimitId::kMaxParamsBytes));
    case Code::kOom:
      return final.fault == Fault::kLimit && limit == NameOf(LimitId::kMemoryMb);
    case Code::kValidation:
      if (limit == NameOf(LimitId::kMaxResultBytes)) return final.fault == Fault::kLimit;
      if (limit == NameOf(LimitId::kMaxCodeBytes)) return final.fault == Fault::kClient;
      return limit.empty() && (final.fault == Fault::kProgram || final.fault == Fault::kClient);
    default:
      return false;
  }
}

std::string Bounded(std::string text) {
  if (text.size() > kMaxErrorBytes) text.resize(CutUtf8(text, kMaxErrorBytes).size());
  return text;
}

Result<JobError> CheckError(const wire::Final& final, const std::string& payload) {
  if (!MayClaim(final)) {
    return Fail(ErrorKind::kInvalid, "a final of code " + std::string(NameOf(final.code)) + " with fault " +
                                         std::string(NameOf(final.fault)) + " that an isolate may not claim");
  }
  auto detail = wire::DecodeDetail(payload);
  if (!detail) return Fail(ErrorKind::kInvalid, "a final with a damaged error detail");
  for (const std::string* text : {&detail->message, &detail->name, &detail->stack}) {
    if (!IsUtf8(*text)) return Fail(ErrorKind::kInvalid, "a final with an error text that is not UTF-8");
  }
  JobError error = MakeError(final.code, Bounded(std::move(detail->message)), final.limit);
  error.fault = final.fault;
  error.started = true;
  if (final.code == Code::kCompile || final.code == Code::kRuntime) {
    if (!detail->name.empty()) error.name = Bounded(std::move(detail->name));
    error.stack = Bounded(std::move(detail->stack));
    error.position = {detail->line, detail->column};
  }
  if (final.code == Code::kOom && error.message.empty()) error.message = "the job's memory is exhausted";
  return error;
}

}  // namespace

Result<Outcome> CheckFinal(const wire::Final& final, std::string payload, const Limits& limits,
                           Encoding encoding) {
  Outcome outcome;
  // Its word alone: what no job can have had is none.
  if (final.usage.heap_peak_bytes <= kMaxHeap.count())
    outcome.usage.heap_peak_bytes = final.usage.heap_peak_bytes;
  outcome.usage.dropped_events = final.usage.dropped_events;
  if (!final.ok) {
    auto error = CheckError(final, payload);
    if (!error) return Fail(error.error());
    outcome.error = std::move(*error);
    return outcome;
  }
  const std::uint64_t least = encoding == Encoding::kJson ? payload.size() : LeastJsonBytes(payload.size());
  if (least > limits.Get(LimitId::kMaxResultBytes)) {
    return Fail(ErrorKind::kInvalid,
                "a result of " + std::to_string(payload.size()) + " bytes, over maxResultBytes");
  }
  if (!IsValue(payload, encoding))
    return Fail(ErrorKind::kInvalid, "a result that is not " + std::string(WhatItIs(encoding)));
  const std::uint64_t told = final.usage.result_bytes;
  const bool can_be = told >= least && told <= limits.Get(LimitId::kMaxResultBytes);
  outcome.usage.result_bytes = encoding == Encoding::kMsgpack && can_be ? told : least;
  outcome.value = std::move(payload);
  return outcome;
}

}  // namespace skerry::agent
