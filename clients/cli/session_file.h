// The name under which a run is known to its broker, kept beside the output (RESULTS.jsonl.session) for as
// long as the run lasts: a run that is killed and resumed finds its running jobs and its unread finals,
// instead of running them a second time.
//
//   SessionFile session = SessionFile::Of("results.jsonl");
//   connect under session.Kept() (a resumed run) or session.Fresh();
//   session.Keep();      // before the first job is submitted
//   session.Remove();    // the run has ended by itself
//
// Threads: one. Errors: Keep names the file. A kept file that holds no name reads as none.
#pragma once

#include <string>

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

  Status Keep() const;
  void Remove() const;

 private:
  std::string path_;  // empty: none
  SessionId id_;
};

}  // namespace skerry::cli
