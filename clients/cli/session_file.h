// The name under which a run is known to its broker, kept beside the output (RESULTS.jsonl.session) for as
// long as the run lasts: a run that is killed and resumed finds its running jobs and its unread finals,
// instead of running them a second time.
//
//   SessionFile session = SessionFile::Of("results.jsonl");
//   connect under session.Kept() (a resumed run) or session.Fresh();
//   session.Keep();      // before the first job is submitted
//   session.Note(where);  // of several brokers: which has which job, before it is sent
//   session.Remove();    // the run has ended by itself
//
// Threads: one; Note may have another. Errors: Keep names the file, and leaves none that it made. A kept file
// that holds no name reads as none. What Note cannot write is not known to the next run, which may run those
// jobs again.
#pragma once

#include <istream>
#include <string>
#include <unordered_map>
#include <vector>

#include "clients/cpp/client_types.h"
#include "common/fd.h"
#include "common/ids.h"
#include "common/result.h"

namespace skerry::cli {

class SessionFile {
 public:
  /// `output` of "-" (stdout, or a private broker that ends with the run) has no file: nothing is kept.
  static SessionFile Of(const std::string& output);

  /// A new name.
  SessionId Fresh();
  /// The name of the run before; a new one where there is none.
  SessionId Kept();

  /// A name that was kept already keeps what was noted under it.
  Status Keep();
  void Note(const std::vector<JobPlacement>& placements);
  /// Where the run before has put it last; empty: not known.
  std::string PlaceOf(const JobId& id) const;
  void Remove() const;

 private:
  void ReadPlaces(std::istream& in);

  std::string path_;  // empty: none
  SessionId id_;
  bool resumed_ = false;
  Fd file_;
  /// Of a million jobs only hashes: one that is wrong sends a job to another broker than before.
  std::unordered_map<std::size_t, std::size_t> places_;
  std::vector<std::string> endpoints_;
};

}  // namespace skerry::cli
