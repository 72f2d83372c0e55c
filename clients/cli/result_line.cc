#include "clients/cli/result_line.h"

#include <utility>

#include "clients/cli/json_text.h"
#include "common/text_check.h"

namespace skerry::cli {
namespace {

void AppendKey(std::string& out, std::string_view key) {
  if (!out.empty() && out.back() != '{') out += ',';
  out += '"';
  out += key;
  out += "\":";
}

void AppendText(std::string& out, std::string_view key, std::string_view text) {
  AppendKey(out, key);
  AppendJsonString(out, text);
}

void AppendBool(std::string& out, std::string_view key, bool value) {
  AppendKey(out, key);
  out += value ? "true" : "false";
}

void AppendCount(std::string& out, std::string_view key, std::uint64_t value) {
  AppendKey(out, key);
  out += std::to_string(value);
}

void AppendPosition(std::string& out, std::string_view key, std::uint32_t value) {
  AppendKey(out, key);
  out += value == 0 ? "null" : std::to_string(value);
}

void AppendError(std::string& out, const JobError& error) {
  out += '{';
  AppendText(out, "code", NameOf(error.code));
  if (error.limit.empty()) {
    AppendKey(out, "limit");
    out += "null";
  } else {
    AppendText(out, "limit", error.limit);
  }
  AppendText(out, "fault", NameOf(error.fault));
  AppendBool(out, "started", error.started);
  AppendBool(out, "retryable", error.retryable);
  AppendText(out, "message", error.message);
  AppendText(out, "name", error.name);
  if (error.code == Code::kCompile || error.code == Code::kRuntime) {
    AppendText(out, "stack", error.stack);
    AppendPosition(out, "line", error.position.line);
    AppendPosition(out, "column", error.position.column);
  }
  if (error.retry_after_ms > 0) AppendCount(out, "retryAfterMs", error.retry_after_ms);
  out += '}';
}

void AppendUsage(std::string& out, const Usage& usage) {
  out += '{';
  const auto millis = [&](std::string_view key, double ms) {
    AppendKey(out, key);
    AppendMillis(out, ms);
  };
  millis("queueMs", usage.queue_ms);
  millis("wallMs", usage.wall_ms);
  millis("cpuMs", usage.cpu_ms);
  AppendCount(out, "memoryPeakBytes", usage.memory_peak_bytes);
  AppendCount(out, "heapPeakBytes", usage.heap_peak_bytes);
  AppendCount(out, "dataRequests", usage.data_requests);
  AppendCount(out, "dataBytes", usage.data_bytes);
  AppendCount(out, "statusEvents", usage.status_events);
  AppendCount(out, "consoleEvents", usage.console_events);
  AppendCount(out, "droppedEvents", usage.dropped_events);
  AppendCount(out, "resultBytes", usage.result_bytes);
  out += '}';
}

}  // namespace

void AppendEvent(std::string& events, const JobNotice& notice) {
  if (!events.empty()) events += ',';
  if (notice.type == EventType::kConsole) {
    events += "{\"type\":\"console\",\"level\":\"";
    events += NameOf(notice.level);
    events += "\",\"text\":";
    AppendJsonString(events, notice.payload);
  } else {
    events += "{\"type\":\"status\",\"value\":";
    if (IsJson(notice.payload)) {
      AppendOneLine(events, notice.payload);
    } else {
      // A truncated value is not JSON any more: its beginning as text is all there is.
      AppendJsonString(events, notice.payload);
    }
  }
  if (notice.truncated) events += ",\"truncated\":true";
  events += '}';
}

Outcome Checked(Outcome outcome) {
  if (outcome.receipt.size() > kMaxReceiptBytes || !IsJson(outcome.receipt)) outcome.receipt.clear();
  if (!outcome.ok() || IsJson(outcome.value)) return outcome;
  outcome.error = MakeError(Code::kCrash, "broke the protocol: its value is not JSON");
  outcome.error->started = true;
  outcome.value.clear();
  return outcome;
}

std::string ResultLine(const JobId& id, const Outcome& outcome, const std::string& events) {
  std::string line = "{";
  line.reserve(512 + outcome.value.size() + events.size());
  AppendText(line, "id", id.str());
  AppendText(line, "outcome", outcome.ok() ? "ok" : "error");
  AppendKey(line, "value");
  if (outcome.ok()) {
    AppendOneLine(line, outcome.value);
  } else {
    line += "null";
  }
  AppendKey(line, "error");
  if (outcome.error) {
    AppendError(line, *outcome.error);
  } else {
    line += "null";
  }
  AppendKey(line, "events");
  line += '[';
  line += events;
  line += ']';
  AppendKey(line, "usage");
  AppendUsage(line, outcome.usage);
  AppendCount(line, "attempt", outcome.attempt);
  if (!outcome.receipt.empty()) {
    AppendKey(line, "receipt");
    AppendOneLine(line, outcome.receipt);
  }
  line += "}\n";
  return line;
}

}  // namespace skerry::cli
