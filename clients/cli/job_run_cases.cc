// Lines with cases: which of them are left to run, their lines, and their summaries.
#include <utility>

#include "clients/cli/exit_codes.h"
#include "clients/cli/job_run.h"
#include "clients/cli/result_line.h"

namespace skerry::cli {

std::optional<JobRun::Held> JobRun::PrepareCases(JobLine line) {
  const JobId id = line.job.spec.id;
  CasesRequest request;
  request.spec = std::move(line.job.spec);
  request.program = std::move(line.job.program);
  request.stop_on = line.stop_on;
  std::vector<std::uint32_t> had;
  for (std::size_t i = 0; i < line.cases.size(); ++i) {
    const auto number = static_cast<std::uint32_t>(i);
    if (results_.done().Contains(KeptCases::Key(id.str(), number))) {
      had.push_back(number);
    } else {
      request.numbers.push_back(number);
      request.inputs.push_back(std::move(line.cases[i]));
    }
  }
  skipped_ += had.size();
  // A run that was killed between writing their results and saying so.
  if (!had.empty()) connection_.client().Acknowledge(id, had);
  PendingCases& pending = pending_cases_[id];
  pending.line = held_line_;
  pending.summary = results_.kept_cases().Of(id.str());
  if (results_.done().Contains(id.str())) {
    auto all = results_.CasesOf(id.str());
    if (!all) {
      Stop(kExitCannotWrite, all.error().message);
      return std::nullopt;
    }
    pending.summary = *all;
  }
  if (request.stop_on == StopOn::kFirstFailure && pending.summary.failed() > 0) {
    for (const std::uint32_t number : std::exchange(request.numbers, {})) {
      const Outcome outcome = CancelledUnrun(kStoppedByFailure);
      pending.summary.Count(outcome);
      WriteCase({id, number}, outcome, {});
    }
  }
  if (!request.numbers.empty()) return request;
  HandleCasesEnded({id, {}});
  return std::nullopt;
}

void JobRun::HandleCase(JobFinal final) {
  std::string events;
  if (auto found = events_of_cases_.extract(final.id)) events = std::move(found.mapped());
  const auto found = pending_cases_.find(final.of_case->job);
  if (found == pending_cases_.end()) return;
  PendingCases& pending = found->second;
  --pending.unfinished;
  --cases_unfinished_;
  const Outcome outcome = Told(std::move(final.outcome), pending.line);
  if (IsOurInterrupts(outcome)) {
    pending.left_over = true;
    ++cancelled_;
    return;
  }
  pending.summary.Count(outcome);
  WriteCase(*final.of_case, outcome, events);
}

void JobRun::HandleCasesEnded(const CasesEnded& ended) {
  const auto found = pending_cases_.find(ended.id);
  if (found == pending_cases_.end()) return;
  PendingCases pending = std::move(found->second);
  pending_cases_.erase(found);
  // Without those it is no summary: --resume writes it.
  if (pending.left_over) return;
  pending.summary.wall = ended.summary.wall;
  WriteLine(SummaryLine(ended.id, pending.summary));
}

void JobRun::WriteCase(const CaseOf& of, const Outcome& outcome, const std::string& events) {
  tally_.Count(outcome);
  WriteLine(CaseLine(of, outcome, events));
}

}  // namespace skerry::cli
