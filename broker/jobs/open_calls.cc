#include "broker/jobs/open_calls.h"

#include <utility>

namespace skerry::broker {

void KeepCall(Job& job, const wire::Call& call, const std::vector<Payload>& payloads, Bytes bound) {
  OpenCall open{call, payloads};
  // Without them it cannot be told again, but it can still be answered, by whoever heard of it.
  if (job.session->open_call_bytes + open.bytes() > bound.count()) open.payloads.clear();
  const std::uint64_t bytes = open.bytes();
  if (job.lease->open_calls.emplace(call.call, std::move(open)).second) job.session->open_call_bytes += bytes;
}

bool ForgetCall(Job& job, std::uint32_t call) {
  const auto open = job.lease->open_calls.find(call);
  if (open == job.lease->open_calls.end()) return false;
  job.session->open_call_bytes -= open->second.bytes();
  job.lease->open_calls.erase(open);
  return true;
}

void ForgetCalls(Job& job) {
  for (const auto& [number, call] : job.lease->open_calls) job.session->open_call_bytes -= call.bytes();
  job.lease->open_calls.clear();
}

}  // namespace skerry::broker
