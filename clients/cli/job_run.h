// The loop of `skerry run`: lines to jobs, jobs to the client, events and finals to result lines. Reads no
// further ahead than the client takes, so memory is bounded by what is in flight, and the inputs of cases
// that wait for room (ClientOptions::max_waiting_cases, or those of one line).
//
// Ownership: borrows everything. Threads: the main thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "clients/cli/connection.h"
#include "clients/cli/id_set.h"
#include "clients/cli/job_line.h"
#include "clients/cli/line_reader.h"
#include "clients/cli/program_store.h"
#include "clients/cli/progress.h"
#include "clients/cli/result_file.h"
#include "clients/cli/tally.h"
#include "clients/cli/waiting_notice.h"

namespace skerry::cli {

class JobRun {
 public:
  JobRun(Connection& connection, LineReader& reader, ResultFile& results, JobDefaults defaults,
         Progress& progress);

  /// Until every line has its result, or something ends the run first: an exit code.
  int Execute();

  const Tally& tally() const { return tally_; }
  std::uint64_t skipped() const { return skipped_; }
  bool interrupted() const { return interrupted_until_.has_value(); }
  /// Jobs of the input without a result, after an interrupt.
  std::uint64_t not_run() const { return not_run_; }
  /// Whether that is all of them: of a pipe only what was read is known.
  bool not_run_is_exact() const { return counted_; }
  /// Why the run ended early; empty: it did not.
  const std::string& failure() const { return failure_; }

 private:
  struct Pending {
    std::uint64_t line = 0;
    std::string events;  // inside of the JSON array
  };
  /// A line's cases, of which some are unfinished.
  struct PendingCases {
    std::uint64_t line = 0;
    std::uint64_t unfinished = 0;
    CasesSummary summary;    // with those that an earlier run had
    bool left_over = false;  // some have no result, for our interrupt
  };
  using Held = std::variant<JobRequest, CasesRequest>;

  /// Submits until the client is full, the input is dry or this turn's share is done.
  void Feed();
  bool ReadJob();
  void TakeJob(JobLine line);
  /// What to submit of a line that is neither done nor repeated; nothing where its result is written already.
  std::optional<Held> Prepare(JobLine line);
  std::optional<Held> PrepareCases(JobLine line);
  void SubmitHeld();
  void Skip(const std::string& id, std::size_t cases);
  void Handle(ClientEvent event);
  void HandleFinal(JobFinal final);
  void HandleCase(JobFinal final);
  void HandleCasesEnded(const CasesEnded& ended);
  void HandleNotice(const JobNotice& notice);
  void HandleRestart(const JobRestarted& restarted);
  /// As it may be written, with the line's number where that is of use.
  static Outcome Told(Outcome outcome, std::uint64_t line);
  bool IsOurInterrupts(const Outcome& outcome) const;
  void Write(const JobId& id, const Outcome& outcome, const std::string& events);
  void WriteCase(const CaseOf& of, const Outcome& outcome, const std::string& events);
  void WriteLine(const std::string& line);
  void WriteFault(const std::string& id, const JobError& error);
  void BeginInterrupt();
  void CountNotRun();
  std::uint64_t NotRunOf(const std::variant<JobLine, LineFault>& parsed) const;
  /// Jobs and cases that were handed to the client and have not ended.
  std::uint64_t Unfinished() const { return pending_.size() + cases_unfinished_; }
  Millis EventWait() const;
  bool Done() const;
  /// Of the input's jobs that have ended; below 0 where its size is not known.
  double Fraction() const;
  void Stop(int code, std::string why);

  Connection& connection_;
  LineReader& reader_;
  ResultFile& results_;
  Progress& progress_;
  JobLineParser parser_;
  IdSet seen_;
  ProgramStore programs_;
  std::unordered_map<JobId, Pending> pending_;
  std::unordered_map<JobId, PendingCases> pending_cases_;
  std::uint64_t cases_unfinished_ = 0;                      // of all of pending_cases_
  std::unordered_map<JobId, std::string> events_of_cases_;  // by name on the wire, as in Pending
  std::optional<Held> held_;                                // read, but the client was full
  std::uint64_t held_line_ = 0;
  bool full_ = false;
  bool input_ended_ = false;
  std::optional<TimePoint> interrupted_until_;
  std::optional<int> exit_code_;
  std::string failure_;
  WaitingNotice waiting_;
  Tally tally_;
  std::uint64_t skipped_ = 0;
  std::uint64_t cancelled_ = 0;  // by our interrupt
  std::uint64_t not_run_ = 0;
  bool counted_ = false;
};

}  // namespace skerry::cli
