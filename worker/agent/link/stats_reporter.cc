#include "worker/agent/link/stats_reporter.h"

#include "common/wire/negotiate.h"
#include "common/wire/stats.h"

namespace skerry::agent {

void StatsReporter::OnWelcome(const wire::Welcome& welcome) {
  wanted_ = wire::HasCapability(welcome.capabilities, wire::kStatsCapability);
  if (!welcome.resumed) base_ = sent_;
  told_ = false;
}

void StatsReporter::TakeOver(const WorkerStats& told_another) {
  const auto had = NewSince(sent_, base_);
  const auto base = had ? NewSince(told_another, *had) : NewSince(told_another, WorkerStats());
  if (!base) return;
  base_ = *base;
  sent_ = told_another;
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
