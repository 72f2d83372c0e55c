#include "clients/cli/tally.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace skerry::cli {
namespace {

constexpr double kSmallestMs = 0.001;
constexpr double kGrowth = 1.02;

std::string Format(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string Duration(double ms) {
  if (ms < 10) return Format("%.2f ms", ms);
  if (ms < 10'000) return Format("%.0f ms", ms);
  return Format("%.1f s", ms / 1000);
}

}  // namespace

std::string Grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

void Tally::Count(const Outcome& outcome) {
  if (outcome.ok()) {
    ++ok_;
  } else {
    ++errors_;
    ++by_code_[static_cast<std::size_t>(outcome.error->code)];
    if (!outcome.error->started && outcome.error->code == Code::kCancelled) ++cancelled_unrun_;
    if (!outcome.error->started) return;  // has no run time
  }
  const double steps =
      std::log(std::max(outcome.usage.wall_ms, kSmallestMs) / kSmallestMs) / std::log(kGrowth);
  ++wall_[std::min(static_cast<std::size_t>(steps), kBuckets - 1)];
  ++timed_;
  shortest_ms_ = std::min(shortest_ms_, outcome.usage.wall_ms);
  longest_ms_ = std::max(longest_ms_, outcome.usage.wall_ms);
}

double Tally::WallQuantile(double fraction) const {
  if (timed_ == 0) return 0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(timed_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += wall_[i];
    if (seen < std::max<std::uint64_t>(wanted, 1)) continue;
    const double middle = kSmallestMs * std::pow(kGrowth, static_cast<double>(i) + 0.5);
    return std::clamp(middle, shortest_ms_, longest_ms_);
  }
  return 0;
}

std::string Tally::Summary(double seconds) const {
  std::string text = Grouped(total()) + (total() == 1 ? " job in " : " jobs in ") + Format("%.1f s", seconds);
  if (seconds > 0) text += " (" + Format("%.0f", static_cast<double>(dealt_with()) / seconds) + "/s)";
  text += ": " + Grouped(ok_) + " ok";
  if (failed() > 0) {
    text += ", " + Grouped(failed()) + " failed (";
    bool first = true;
    for (int i = 0; i < kCodeCount; ++i) {
      if (by_code_[i] == 0 || static_cast<Code>(i) == Code::kCancelled) continue;
      text += (first ? "" : ", ") + std::string(NameOf(static_cast<Code>(i))) + " " + Grouped(by_code_[i]);
      first = false;
    }
    text += ")";
  }
  if (cancelled() > 0) text += ", " + Grouped(cancelled()) + " cancelled";
  if (timed_ > 0)
    text += "; run time p50 " + Duration(WallQuantile(0.5)) + ", p99 " + Duration(WallQuantile(0.99));
  return text;
}

}  // namespace skerry::cli
