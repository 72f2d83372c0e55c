#include "worker/engine/event_meter.h"

#include "common/utf8.h"
#include "worker/engine/utf8.h"

namespace skerry::engine {
namespace {

// A killed job's figure is at most this old; a flood of drops must not become a flood of reports.
constexpr Millis kDroppedReportEvery{10};

}  // namespace

EventMeter::EventMeter(const Limits& limits, JobPort& port)
    : port_(port),
      limits_(port),
      max_console_(limits.Get(LimitId::kMaxConsoleEvents)),
      max_status_(limits.Get(LimitId::kMaxStatusEvents)),
      max_event_bytes_(limits.Get(LimitId::kMaxEventBytes)),
      max_total_bytes_(limits.Get(LimitId::kMaxEventsTotalBytes)) {}

bool EventMeter::AdmitConsole() {
  if (console_ < max_console_ && total_bytes_ < max_total_bytes_) return true;
  Drop(console_ < max_console_ ? LimitId::kMaxEventsTotalBytes : LimitId::kMaxConsoleEvents);
  return false;
}

bool EventMeter::AdmitStatus() {
  if (status_ < max_status_ && total_bytes_ < max_total_bytes_) return true;
  Drop(status_ < max_status_ ? LimitId::kMaxEventsTotalBytes : LimitId::kMaxStatusEvents);
  return false;
}

void EventMeter::SendConsole(Level level, std::string_view text, bool whole) {
  const std::string_view payload = CutUtf8(text, max_event_bytes_);
  if (!Fits(payload.size())) return;
  ++console_;
  port_.SendEvent(EventType::kConsole, level, payload, !whole || payload.size() < text.size());
}

void EventMeter::SendStatus(std::string_view json_text) {
  const bool truncated = json_text.size() > max_event_bytes_;
  const std::string cut = truncated ? QuotedPrefix(json_text, max_event_bytes_) : std::string();
  const std::string_view payload = truncated ? std::string_view(cut) : json_text;
  if (!Fits(payload.size())) return;
  ++status_;
  port_.SendEvent(EventType::kStatus, Level::kInfo, payload, truncated);
}

void EventMeter::DropMany(std::uint64_t count) {
  if (count == 0) return;
  dropped_ += count - 1;
  Drop(LimitId::kMaxConsoleEvents);
}

void EventMeter::Report(Usage* usage) const {
  usage->console_events = console_;
  usage->status_events = status_;
  usage->dropped_events = dropped_;
}

bool EventMeter::Fits(std::size_t bytes) {
  if (bytes > max_total_bytes_ - total_bytes_) {
    Drop(LimitId::kMaxEventsTotalBytes);
    return false;
  }
  total_bytes_ += bytes;
  return true;
}

void EventMeter::Drop(LimitId limit) {
  ++dropped_;
  limits_.Trip(limit);
  const TimePoint now = SteadyClock::now();
  if (now < next_dropped_report_) return;
  next_dropped_report_ = now + kDroppedReportEvery;
  port_.SendDropped(dropped_);
}

}  // namespace skerry::engine
