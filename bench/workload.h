// A program and its input, as a file of bench/workloads holds them:
//
//   {"name": "calls", "summary": "10 host calls", "needs": ["hostCalls"], "answer": {…}, "code": "…",
//   "input": …}
//
// `needs` names what runs it must have beyond V8 itself; a bench that compares with something that lacks it
// leaves the workload out and says so. A file is added by laying it there; a need that this program does not
// know is an error, since it would measure something else.
//
// Threads: plain data. Errors: LoadWorkload names the file and what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"

namespace skerry::bench {

struct Workload {
  std::string name;     ///< the file's, without folder and .json
  std::string summary;  ///< for --help
  std::string path;
  std::string code;    ///< an async function body
  std::string input;   ///< JSON text
  std::string answer;  ///< to every host call, JSON text; empty: it makes none
};

Result<Workload> LoadWorkload(const std::string& path);
/// Every one that the tree has, by name.
Result<std::vector<Workload>> LoadAllWorkloads();
/// One of these names; the error lists what there is.
Result<Workload> FindWorkload(const std::string& name);

}  // namespace skerry::bench
