#include "clients/cli/result_line.h"

#include <algorithm>
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

/// Whether an error is a program's, which has a place in it, or one that stands for those of many cases.
enum class ErrorOf : std::uint8_t { kRun, kCases };

void AppendError(std::string& out, const JobError& error, ErrorOf of) {
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
  if (of == ErrorOf::kRun && (error.code == Code::kCompile || error.code == Code::kRuntime)) {
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

void AppendSummary(std::string& out, const CasesSummary& summary) {
  out += '{';
  AppendCount(out, "cases", summary.cases);
  AppendCount(out, "ok", summary.ok);
  AppendCount(out, "failed", summary.failed());
  AppendKey(out, "codes");
  out += '{';
  for (int i = 0; i < kCodeCount; ++i) {
    const std::uint64_t count = summary.by_code[static_cast<std::size_t>(i)];
    if (count > 0) AppendCount(out, NameOf(static_cast<Code>(i)), count);
  }
  out += '}';
  AppendCount(out, "cancelled", summary.cancelled);
  AppendCount(out, "wallMs", static_cast<std::uint64_t>(std::max<Millis::rep>(summary.wall.count(), 0)));
  out += '}';
}

/// Of cases that did not all end ok.
JobError ErrorStandingFor(const CasesSummary& summary) {
  const auto most = std::max_element(summary.by_code.begin(), summary.by_code.end());
  const Code code = *most > 0 ? static_cast<Code>(most - summary.by_code.begin()) : Code::kCancelled;
  std::string message =
      std::to_string(summary.failed()) + " of " + std::to_string(summary.cases) + " cases failed";
  if (summary.cancelled > 0) message += ", " + std::to_string(summary.cancelled) + " cancelled";
  JobError error = MakeError(code, message + "; their own lines say how");
  if (*most > 0) error.fault = summary.faults[static_cast<std::size_t>(code)];
  // That some began is all that can be said of them together.
  error.started = summary.started > 0;
  return error;
}

/// `head`: the line so far, without its end.
std::string Line(std::string head, const Outcome& outcome, const std::string& events,
                 ErrorOf of = ErrorOf::kRun) {
  std::string line = std::move(head);
  line.reserve(line.size() + 512 + outcome.value.size() + events.size());
  AppendText(line, "outcome", outcome.ok() ? "ok" : "error");
  AppendKey(line, "value");
  if (outcome.ok()) {
    AppendOneLine(line, outcome.value);
  } else {
    line += "null";
  }
  AppendKey(line, "error");
  if (outcome.error) {
    AppendError(line, *outcome.error, of);
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

std::string Head(const JobId& id) {
  std::string head = "{";
  AppendText(head, "id", id.str());
  return head;
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
  return Line(Head(id), outcome, events);
}

std::string CaseLine(const CaseOf& of, const Outcome& outcome, const std::string& events) {
  std::string head = Head(of.job);
  AppendCount(head, "case", of.number);
  return Line(std::move(head), outcome, events);
}

std::string SummaryLine(const JobId& id, const CasesSummary& summary) {
  std::string head = Head(id);
  AppendKey(head, "summary");
  AppendSummary(head, summary);
  Outcome outcome;
  outcome.value = "null";
  if (summary.ok < summary.cases) outcome.error = ErrorStandingFor(summary);
  return Line(std::move(head), outcome, {}, ErrorOf::kCases);
}

}  // namespace skerry::cli
