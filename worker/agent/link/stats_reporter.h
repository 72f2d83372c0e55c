// When the broker is told the worker's figures, and from where they count (schemas/wire.md, `stats`).
//
//   reporter.OnWelcome(welcome);
//   if (auto stats = reporter.Report(figures)) link.Send(*stats, {});     // about once a second
//
// Threads: plain data, no clock. Errors: none.
#pragma once

#include <optional>

#include "common/wire/messages.h"
#include "common/worker_stats.h"

namespace skerry::agent {

class StatsReporter {
 public:
  /// A broker that did not know this worker's session is told only what is counted from now on: it, or the
  /// one before it, has had the rest.
  void OnWelcome(const wire::Welcome& welcome);
  /// Another broker has been told up to here: what is counted from now on is this one's again.
  void TakeOver(const WorkerStats& told_another);
  bool wanted() const { return wanted_; }
  /// What to send: nothing to a broker that did not ask for it, and nothing that it has been told already.
  std::optional<wire::Stats> Report(const WorkerStats& figures);

 private:
  WorkerStats base_;  // counts from here are this broker's
  WorkerStats sent_;
  bool wanted_ = false;
  bool told_ = false;  // anything since the last WELCOME
};

}  // namespace skerry::agent
