// The loop of `skerry run`: lines to jobs, jobs to the client, events and finals to result lines. Reads no
// further ahead than the client takes, so memory is bounded by what is in flight.
//
// Ownership: borrows everything. Threads: the main thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "clients/cli/connection.h"
#include "clients/cli/id_set.h"
#include "clients/cli/job_line.h"
#include "clients/cli/line_reader.h"
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

  /// Submits until the client is full, the input is dry or this turn's share is done.
  void Feed();
  bool ReadJob();
  void SubmitHeld();
  void Skip(const std::string& id);
  void Handle(ClientEvent event);
  void HandleFinal(JobFinal final);
  void Write(const JobId& id, const Outcome& outcome, const std::string& events);
  void WriteFault(const std::string& id, const JobError& error);
  void BeginInterrupt();
  void CountNotRun();
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
  std::unordered_map<JobId, Pending> pending_;
  std::optional<JobRequest> held_;  // read, but the client was full
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
