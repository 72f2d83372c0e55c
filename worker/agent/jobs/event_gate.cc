#include "worker/agent/jobs/event_gate.h"

#include <algorithm>
#include <array>
#include <string>

#include "common/text_check.h"
#include "worker/agent/jobs/value_check.h"

namespace skerry::agent {
namespace {

// An ErrorDetail: message, name and stack of kMaxErrorBytes each, and its keys.
constexpr std::size_t kMaxDetailBytes = 4 * kMaxErrorBytes;
constexpr std::size_t kSlack = 1024;
// The isolate's own count is its word alone: kept to what sums and JSON numbers can hold.
constexpr std::uint64_t kMaxClaim = std::uint64_t{1} << 52;

// What only the isolate sees: calls that it rejects before they leave it, events that it drops.
constexpr std::array kToldFromInside = {LimitId::kMaxDataRequests, LimitId::kMaxParamsBytes,
                                        LimitId::kMaxStatusEvents, LimitId::kMaxConsoleEvents,
                                        LimitId::kMaxEventsTotalBytes};

Error Broken(std::string what) {
  return Error{ErrorKind::kInvalid, std::move(what)};
}

}  // namespace

Result<Pass> EventGate::OnEvent(const wire::Event& event, std::string_view payload) {
  const bool status = event.type == EventType::kStatus;
  std::uint64_t& count = status ? status_events_ : console_events_;
  const LimitId cap = status ? LimitId::kMaxStatusEvents : LimitId::kMaxConsoleEvents;
  if (count >= Limit(cap)) return Drop(cap);
  const std::uint64_t bytes = status ? LeastTextBytes(payload, encoding_) : payload.size();
  if (bytes > Limit(LimitId::kMaxEventBytes)) return Drop(LimitId::kMaxEventBytes);
  if (event_bytes_ + bytes > Limit(LimitId::kMaxEventsTotalBytes)) {
    return Drop(LimitId::kMaxEventsTotalBytes);
  }
  if (status && !IsValue(payload, encoding_))
    return Fail(Broken("a status event that is not " + std::string(WhatItIs(encoding_))));
  if (!status && !IsUtf8(payload)) return Fail(Broken("a console event that is not UTF-8"));
  if (event.truncated) tripped_.Add(LimitId::kMaxEventBytes);
  ++count;
  event_bytes_ += bytes;
  return Pass::kForward;
}

Pass EventGate::Drop(LimitId limit) {
  tripped_.Add(limit);
  ++dropped_here_;
  return Pass::kDrop;
}

Status EventGate::OnTripped(std::string_view limit) {
  const auto id = LimitByName(limit);
  if (!id || std::find(kToldFromInside.begin(), kToldFromInside.end(), *id) == kToldFromInside.end()) {
    return Fail(Broken("the trip of a limit that it cannot know about"));
  }
  tripped_.Add(*id);
  return {};
}

void EventGate::OnDropped(std::uint64_t events) {
  dropped_inside_ = std::max(dropped_inside_, std::min(events, kMaxClaim));
}

Status EventGate::OnCall(std::uint32_t call, std::string_view method, std::string_view params) {
  if (call != calls_ + 1) return Fail(Broken("host call " + std::to_string(call) + " out of sequence"));
  if (call > Limit(LimitId::kMaxDataRequests)) return Fail(Broken("a host call past maxDataRequests"));
  if (method.size() + LeastTextBytes(params, encoding_) > Limit(LimitId::kMaxParamsBytes)) {
    return Fail(Broken("a host call past maxParamsBytes"));
  }
  if (!IsUtf8(method)) return Fail(Broken("a host call whose method is not UTF-8"));
  if (!IsValue(params, encoding_))
    return Fail(Broken("a host call whose params are not " + std::string(WhatItIs(encoding_))));
  calls_ = call;
  open_calls_.insert(call);
  return {};
}

std::optional<wire::AnswerKind> EventGate::OnAnswer(std::uint32_t call, wire::AnswerKind kind,
                                                    std::size_t bytes) {
  if (open_calls_.erase(call) == 0) return std::nullopt;
  if (data_bytes_ + bytes > Limit(LimitId::kMaxDataBytes)) {
    tripped_.Add(LimitId::kMaxDataBytes);
    return wire::AnswerKind::kRefused;
  }
  data_bytes_ += bytes;
  return kind;
}

void EventGate::Report(Usage& usage) const {
  usage.status_events = status_events_;
  usage.console_events = console_events_;
  usage.dropped_events = dropped_here_ + dropped_inside_;
  usage.data_requests = calls_;
  usage.data_bytes = data_bytes_;
  usage.tripped = tripped_;
}

void CheckAnswer(wire::AnswerKind& kind, std::string& payload, Encoding encoding) {
  const bool value = kind == wire::AnswerKind::kValue;
  // What JSON has not is the isolate's to refuse: it can say what that is.
  const bool is_value = value && (encoding == Encoding::kMsgpack || IsJson(payload));
  if (is_value || (!value && IsUtf8(payload))) return;
  kind = wire::AnswerKind::kError;
  payload = "the host's answer is not what the protocol allows: neither JSON nor an error's text";
}

std::size_t MaxFrameBytes(const Limits& limits, Encoding encoding) {
  const std::uint64_t value =
      std::max({limits.Get(LimitId::kMaxResultBytes), limits.Get(LimitId::kMaxParamsBytes),
                limits.Get(LimitId::kMaxEventBytes)});
  constexpr std::uint64_t kLargest =
      SpecOf(LimitId::kMaxResultBytes).hard_maximum;  // of ZeroMQ's frames as well
  const std::uint64_t bytes =
      encoding == Encoding::kJson ? value : std::min(value * kMsgpackGrowth, kLargest);
  return std::max(bytes, static_cast<std::uint64_t>(kMaxDetailBytes)) + kSlack;
}

}  // namespace skerry::agent
