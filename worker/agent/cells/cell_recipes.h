// What derived cells are to do, of the jobs that want them, and within which limits.
//
// Threads: pure. Errors: none.
#pragma once

#include <memory>

#include "common/limits.h"
#include "common/units.h"
#include "worker/agent/cells/cell.h"
#include "worker/agent/jobs/job_plan.h"

namespace skerry::agent {

/// CPU that libraries may take to be evaluated. The largest bundles take seconds.
inline constexpr Millis kLibraryCpu{5'000};
/// By the wall clock: a machine that does not let them run in this time is at fault, not they.
inline constexpr Millis kLibraryTime{30'000};

/// The program's part of a job: nothing that names it or whose it is.
std::shared_ptr<const cell::CellRecipe> ProgramRecipe(const JobPlan& plan);
std::shared_ptr<const cell::CellRecipe> LibraryRecipe(const Libraries& libraries);
/// kLibraryMb (cell.h), kLibraryCpu and kLibraryTime, as a job's limits.
Limits LibraryLimits();

}  // namespace skerry::agent
