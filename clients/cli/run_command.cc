#include "clients/cli/run_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "clients/cli/exit_codes.h"
#include "clients/cli/interrupt.h"
#include "clients/cli/job_run.h"
#include "clients/cli/say.h"
#include "clients/cli/session_file.h"

namespace skerry::cli {
namespace {

/// "1 job", "2,000 jobs"
std::string Counted(std::uint64_t count, const std::string& noun) {
  return Grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

void SayInterrupted(const JobRun& run, const std::string& output) {
  const std::string bound = run.not_run_is_exact() ? "" : "at least ";
  const std::string advice = output == "-" ? "with --output FILE, --resume could go on from here"
                                           : "the same command with --resume goes on from here";
  std::fprintf(stderr, "skerry: interrupted: %s%s not run; %s\n", bound.c_str(),
               Counted(run.not_run(), "job").c_str(), advice.c_str());
}

void Summarise(const JobRun& run, const ResultFile& results, double seconds) {
  Say(run.tally().Summary(seconds));
  const std::uint64_t kept = results.kept_ok() + results.kept_errors();
  if (kept + results.run_again() == 0) return;
  std::string kept_failed;
  if (results.kept_errors() > 0) {
    kept_failed = ", " + Grouped(results.kept_errors()) + " failed, for which the exit status is 1";
  }
  std::fprintf(stderr, "skerry: resumed: %s kept (%s ok%s), %s skipped, %s run again\n",
               Counted(kept, "result").c_str(), Grouped(results.kept_ok()).c_str(), kept_failed.c_str(),
               Counted(run.skipped(), "job").c_str(), Grouped(results.run_again()).c_str());
}

/// Whether writing to `output` would destroy `input`. `-` is stdin or stdout.
bool IsSameFile(const std::string& input, const std::string& output) {
  struct stat in {};
  struct stat out {};
  const int in_known = input == "-" ? fstat(STDIN_FILENO, &in) : stat(input.c_str(), &in);
  const int out_known = output == "-" ? fstat(STDOUT_FILENO, &out) : stat(output.c_str(), &out);
  return in_known == 0 && out_known == 0 && S_ISREG(in.st_mode) && in.st_dev == out.st_dev &&
         in.st_ino == out.st_ino;
}

}  // namespace

int RunCommand(const RunOptions& options) {
  if (IsSameFile(options.jobs, options.output)) {
    return Complain(
        options.output + " is both the jobs and the output: it would be emptied before it is read",
        kExitUsage);
  }
  if (options.resume && options.output == "-") return Complain("--resume needs --output FILE", kExitUsage);
  auto reader = LineReader::Open(options.jobs);
  if (!reader) return Complain(reader.error().message, kExitUsage);
  CatchInterrupts();
  SessionFile session = SessionFile::Of(options.connect.brokers.empty() ? "-" : options.output);
  ConnectOptions connect = options.connect;
  connect.session = options.resume ? session.Kept() : session.Fresh();
  connect.on_placed = [&session](const auto& placements) { session.Note(placements); };
  if (options.resume) connect.placed_before = [&session](const JobId& id) { return session.PlaceOf(id); };
  auto connection = Connection::Open(connect);
  if (!connection) {
    if (Interrupts() > 0) return kExitInterrupted;
    return Complain(connection.error().message, ExitCodeOf(connection.error()));
  }
  // Only now: a run that cannot begin must not cost the results of the one before.
  auto results = ResultFile::Open(options.output, options.resume ? Existing::kKeep : Existing::kReplace);
  if (!results) return Complain(results.error().message, kExitUsage);
  if (auto kept = session.Keep(); !kept) return Complain(kept.error().message, kExitCannotWrite);
  if (auto begun = results->Begin(); !begun) return Complain(begun.error().message, kExitCannotWrite);
  const TimePoint start = SteadyClock::now();
  // Results on the same terminal are progress enough, and a bar between them is not.
  const bool results_on_terminal = options.output == "-" && isatty(STDOUT_FILENO) == 1;
  Progress progress(
      options.quiet || results_on_terminal ? Progress::Show::kNever : Progress::Show::kOnTerminal, start);
  const JobDefaults defaults{TenantId(options.connect.tenant), UserId(options.connect.user)};
  JobRun run(*connection, *reader, *results, defaults, progress);
  const int code = run.Execute();
  progress.Clear();
  // A run that lost its broker may find its session again; any other end is the session's end.
  if (code != kExitUnavailable) session.Remove();
  if (!run.failure().empty()) Complain(run.failure(), code);
  // Where nothing was begun there is nothing to count.
  const bool begun = run.tally().total() > 0 || code != kExitUsage;
  if (!options.quiet && begun) Summarise(run, *results, MillisBetween(start, SteadyClock::now()) / 1000);
  if (!options.quiet && run.interrupted()) SayInterrupted(run, options.output);
  return code;
}

}  // namespace skerry::cli
