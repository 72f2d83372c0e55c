// A program and its input, as bench/workloads/*.json hold them: {"name", "code", "input"}.
#pragma once

#include <string>
#include <vector>

#include "common/result.h"

namespace skerry::bench {

struct Workload {
  std::string name;   ///< the file's, without folder and .json
  std::string code;   ///< an async function body
  std::string input;  ///< JSON text
};

Result<Workload> LoadWorkload(const std::string& path);

}  // namespace skerry::bench
