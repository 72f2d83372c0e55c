#include "worker/agent/stats_reporter.h"

#include <algorithm>

#include "common/wire/stats.h"

namespace skerry::agent {

void StatsReporter::OnWelcome(const wire::Welcome& welcome) {
  const auto& capabilities = welcome.capabilities;
  wanted_ = std::find(capabilities.begin(), capabilities.end(), wire::kStatsCapability) != capabilities.end();
  if (!welcome.resumed) base_ = sent_;
  told_ = false;
}

std::optional<wire::Stats> StatsReporter::Report(const WorkerStats& figures) {
  if (!wanted_ || (told_ && figures == sent_)) return std::nullopt;
  const auto fresh = NewSince(figures, base_);
  if (!fresh) return std::nullopt;  // only past what any worker counts
  sent_ = figures;
  told_ = true;
  return wire::ToStats(*fresh);
}

}  // namespace skerry::agent
