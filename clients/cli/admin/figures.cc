#include "clients/cli/admin/figures.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "clients/cli/tally.h"
#include "common/worker_stats.h"

namespace skerry::cli {
namespace {

std::string Fixed(double number, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  return text.data();
}

}  // namespace

std::string BytesText(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return Fixed(size, unit > 0 && size < 10 ? 1 : 0) + " " + kUnits[unit];
}

std::string AgeText(std::uint64_t ms) {
  const std::uint64_t seconds = ms / 1'000;
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < 2 * 3'600) return std::to_string(seconds / 60) + "m";
  if (seconds < 2 * 86'400) return std::to_string(seconds / 3'600) + "h";
  return std::to_string(seconds / 86'400) + "d";
}

std::string SecondsText(std::uint64_t micros) {
  const double seconds = static_cast<double>(micros) / 1e6;
  if (seconds >= 1'000) return Grouped(static_cast<std::uint64_t>(seconds)) + "s";
  return Fixed(seconds, seconds < 10 ? 2 : 1) + "s";
}

std::string RateText(double per_second) {
  if (per_second <= 0) return "0";
  if (per_second >= 1'000) return Grouped(static_cast<std::uint64_t>(per_second));
  return Fixed(per_second, 1);
}

std::string LimitText(std::uint64_t limit) {
  return limit == 0 ? "-" : Grouped(limit);
}

std::string CountsText(const wire::NamedCounts& counts, std::size_t most) {
  auto entries = counts.entries;
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, entries.size()); ++i)
    text += (i > 0 ? ", " : "") + entries[i].first + " " + Grouped(entries[i].second);
  if (entries.size() > most) text += ", +" + std::to_string(entries.size() - most);
  return text.empty() ? "-" : text;
}

std::uint64_t SumOf(const wire::NamedCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : counts.entries) sum += count;
  return sum;
}

std::uint64_t CountOf(const wire::NamedCounts& counts, std::string_view name) {
  for (const auto& [entry, count] : counts.entries) {
    if (entry == name) return count;
  }
  return 0;
}

std::uint64_t CrashesOf(const wire::WorkerRow& worker) {
  std::uint64_t crashes = 0;
  for (const IsolateExit exit :
       {IsolateExit::kSegv, IsolateExit::kBus, IsolateExit::kIll, IsolateExit::kTrap, IsolateExit::kFpe,
        IsolateExit::kAbrt, IsolateExit::kSys, IsolateExit::kOomKill, IsolateExit::kForeignKill,
        IsolateExit::kOtherSignal, IsolateExit::kKilledProtocol}) {
    crashes += CountOf(worker.exits, NameOf(exit));
  }
  return crashes;
}

}  // namespace skerry::cli
