// What a cell is to have done when it forks, beyond what the cell that it is forked from has done.
//
// Threads: plain data.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/job.h"
#include "common/limits.h"

namespace skerry::cell {

/// CommonJS text, UTF-8, that a job gets by `require(name)`. The operator's, as trusted as the prelude.
struct Library {
  std::string name;
  std::string code;
};

/// A tenant's program: the cell that has evaluated it is as hostile as it is.
struct CellProgram {
  JobSpec job;  ///< mode, limits (all that are set), wasm, seed, clock; no names
  std::string code;
};

/// The limits that a job names, over the defaults; it names all that are set.
inline Limits LimitsOf(const JobSpec& job) {
  Limits limits;
  for (const auto& [name, value] : job.limits) {
    if (const auto id = LimitByName(name)) limits.Set(*id, value);
  }
  return limits;
}

struct CellRecipe {
  std::vector<std::shared_ptr<const Library>> libraries;  ///< in the order in which they are evaluated
  std::optional<CellProgram> program;
};

}  // namespace skerry::cell
