// Where results go: appended as jobs finish, one write per line, so that whatever happens the file ends in
// whole lines or in one that is cut.
//
// Resume: Open with Existing::kKeep first reads what is there. A last line without its end is cut off. Lines
// of infrastructure faults and RATE_LIMITED ones are taken out (their jobs run again; the file is rewritten
// beside itself and renamed over), so that every id keeps one final. All other ids are done. Of a job with
// cases each case has its line, and is done by itself; the job is done when its summary is there, which goes
// with any line of a case. Where such a job has got more cases since, those run, and a second summary counts
// all of them: the last one of an id is the one to read.
//
// Threads: one. Errors: Open, Begin and Write name the file; after a failed Write nothing more is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "clients/cli/id_set.h"
#include "clients/cli/kept_cases.h"
#include "common/fd.h"
#include "common/result.h"

namespace skerry::cli {

enum class Existing : std::uint8_t { kReplace, kKeep };

struct KeptLine;

class ResultFile {
 public:
  /// "-" is stdout, which cannot be kept.
  static Result<ResultFile> Open(const std::string& path, Existing existing);

  /// To be called once, before the first Write: Existing::kReplace empties the file, which Open leaves as it
  /// is, so that a run that cannot begin does not cost the results of the one before.
  Status Begin();
  /// `line` ends in a newline.
  Status Write(std::string_view line);

  /// Ids that have a final, or a summary, in the kept file; and KeptCases::Key of the cases that have one.
  const IdSet& done() const { return done_; }
  /// Of jobs that are not done.
  const KeptCases& kept_cases() const { return kept_cases_; }
  /// Whether the job is done but for cases that its line has been given since, of `cases` in all, or for the
  /// summary of such: new inputs stand behind those that there were.
  bool HasGrown(const std::string& id, std::size_t cases) const;
  /// Of all kept lines of a job that HasGrown; the file is read once more for the first of them.
  Result<CasesSummary> CasesOf(const std::string& id);
  /// Lines of jobs and cases; summaries are none.
  std::uint64_t kept_ok() const { return kept_ok_; }
  std::uint64_t kept_errors() const { return kept_errors_; }
  std::uint64_t run_again() const { return run_again_; }

 private:
  ResultFile(std::string path, Fd fd, Existing existing)
      : path_(std::move(path)), fd_(std::move(fd)), existing_(existing) {}
  Status ReadKept();
  void Note(const KeptLine& kept);
  Status TakeOutFaults();

  std::string path_;
  Fd fd_;
  Existing existing_;
  IdSet done_;
  KeptCases kept_cases_;
  std::optional<std::unordered_map<std::string, CasesSummary>> all_cases_;
  std::uint64_t lines_to_take_out_ = 0;
  std::uint64_t kept_ok_ = 0;
  std::uint64_t kept_errors_ = 0;
  std::uint64_t run_again_ = 0;
};

}  // namespace skerry::cli
