#include "worker/agent/cells/cell_key.h"

#include <string_view>

namespace skerry::agent {
namespace {

/// With its length before it, so that no two lists of parts read the same.
void Add(std::string& key, std::string_view part) {
  key += std::to_string(part.size());
  key += ':';
  key += part;
}

void Add(std::string& key, const std::optional<std::uint64_t>& number) {
  Add(key, number ? std::to_string(*number) : std::string());
}

}  // namespace

std::string LibraryKey(const Libraries& libraries) {
  std::string key = "libraries ";
  for (const ShelvedLibrary& shelved : libraries) Add(key, shelved.library->name);
  return key;
}

std::string ProgramKey(const JobPlan& plan) {
  const JobSpec& job = plan.dispatch.job;
  std::string key = "program ";
  Add(key, job.tenant.str());
  Add(key, job.code_hash);
  Add(key, NameOf(job.mode));
  Add(key, LibraryKey(plan.libraries));
  Add(key, job.wasm ? "wasm" : "");
  for (const LimitSpec& spec : kLimitSpecs) Add(key, plan.limits.Get(spec.id));
  Add(key, job.seed);
  Add(key, job.clock_ms);
  return key;
}

}  // namespace skerry::agent
