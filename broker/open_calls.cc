#include "broker/open_calls.h"

#include <utility>

namespace skerry::broker {

void KeepCall(Job& job, const wire::Call& call, const std::vector<Payload>& payloads, Bytes bound) {
  OpenCall open{call, payloads};
  const std::uint64_t bytes = open.bytes();
  if (job.session->open_call_bytes + bytes > bound.count()) return;
  if (job.open_calls.emplace(call.call, std::move(open)).second) job.session->open_call_bytes += bytes;
}

void ForgetCall(Job& job, std::uint32_t call) {
  const auto open = job.open_calls.find(call);
  if (open == job.open_calls.end()) return;
  job.session->open_call_bytes -= open->second.bytes();
  job.open_calls.erase(open);
}

void ForgetCalls(Job& job) {
  for (const auto& [number, call] : job.open_calls) job.session->open_call_bytes -= call.bytes();
  job.open_calls.clear();
}

}  // namespace skerry::broker
