#include "worker/agent/cells/cell_recipes.h"

#include <utility>

namespace skerry::agent {

std::shared_ptr<const cell::CellRecipe> ProgramRecipe(const JobPlan& plan) {
  const JobSpec& job = plan.dispatch.job;
  cell::CellProgram program;
  program.job.mode = job.mode;
  program.job.limits = job.limits;
  program.job.memory_mb = job.memory_mb;
  program.job.wasm = job.wasm;
  program.job.seed = job.seed;
  program.job.clock_ms = job.clock_ms;
  program.job.libraries = job.libraries;
  program.code = plan.code;
  auto recipe = std::make_shared<cell::CellRecipe>();
  recipe->program = std::move(program);
  return recipe;
}

std::shared_ptr<const cell::CellRecipe> LibraryRecipe(const Libraries& libraries) {
  auto recipe = std::make_shared<cell::CellRecipe>();
  for (const ShelvedLibrary& shelved : libraries) recipe->libraries.push_back(shelved.library);
  return recipe;
}

Limits LibraryLimits() {
  Limits limits;
  limits.Set(LimitId::kMemoryMb, kLibraryMb);
  limits.Set(LimitId::kTimeoutMs, kLibraryTime.count());
  limits.Set(LimitId::kCpuMs, kLibraryCpu.count());
  return limits;
}

}  // namespace skerry::agent
