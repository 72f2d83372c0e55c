#include "broker/sessions/submit_gate.h"

#include <utility>

namespace skerry::broker {
namespace {

constexpr std::uint64_t kBytesPerMessage = 1024;  // a header's strings, and our books

}  // namespace

std::uint64_t SubmitGate::Hold(Message message, std::optional<RateAsk> ask, TimePoint now) {
  Held held;
  held.bytes = kBytesPerMessage + BytesOf(message.payloads);
  held.since = now;
  held.decided = !ask;
  bytes_ += held.bytes;
  ++held_[message.from];
  held.ready = {std::move(message), std::move(ask), std::nullopt};
  line_.push_back(std::move(held));
  return first_ + line_.size() - 1;
}

bool SubmitGate::Decide(std::uint64_t number, const RateVerdict& verdict) {
  if (number < first_ || number - first_ >= line_.size()) return false;
  Held& held = line_[number - first_];
  if (held.decided) return false;
  held.decided = true;
  held.ready.verdict = verdict;
  return true;
}

void SubmitGate::GiveUp() {
  for (Held& held : line_) held.decided = true;
}

std::optional<SubmitGate::Ready> SubmitGate::TakeReady() {
  if (line_.empty() || !line_.front().decided) return std::nullopt;
  Held held = std::move(line_.front());
  line_.pop_front();
  ++first_;
  bytes_ -= held.bytes;
  const auto count = held_.find(held.ready.message.from);
  if (--count->second == 0) held_.erase(count);
  return std::move(held.ready);
}

std::optional<TimePoint> SubmitGate::Deadline() const {
  if (line_.empty()) return std::nullopt;
  return line_.front().since + patience_;
}

}  // namespace skerry::broker
