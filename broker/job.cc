#include "broker/job.h"

#include <algorithm>
#include <functional>
#include <string>

#include "common/logging.h"

namespace skerry::broker {
namespace {

/// Order matters and equal parts must not cancel out: multiply before mixing (the constant is 2^64 / phi).
std::size_t Mix(std::size_t sum, std::size_t part) {
  return sum * 0x9e3779b97f4a7c15ull + part;
}

}  // namespace

std::size_t AccountHash::operator()(const Account& account) const {
  return Mix(std::hash<TenantId>()(account.tenant), std::hash<UserId>()(account.user));
}

std::size_t LimitsHash::operator()(const Limits& limits) const {
  std::size_t sum = 0;
  for (const LimitSpec& limit : kLimitSpecs) sum = Mix(sum, limits.Get(limit.id));
  return sum;
}

std::unique_ptr<Job> MakeJob(const JobSpec& spec, const Limits& limits, SharedParts& shared) {
  auto job = std::make_unique<Job>();
  job->id = spec.id;
  job->account = shared.accounts.Hold({spec.tenant, spec.user});
  job->limits = shared.limits.Hold(limits);
  if (!spec.code_hash.empty()) {
    job->code_hash = std::make_unique<Job::CodeHash>();
    std::copy_n(spec.code_hash.begin(), std::min(spec.code_hash.size(), job->code_hash->size()),
                job->code_hash->begin());
  }
  job->memory_mb = static_cast<std::uint32_t>(limits.memory_mb());
  job->deadline_ms = static_cast<std::uint32_t>(spec.deadline_ms);
  job->priority = static_cast<std::int8_t>(spec.priority);
  job->mode = spec.mode;
  job->retry = spec.retry;
  job->admission = spec.admission;
  job->wasm = spec.wasm;
  if (AsksForReproducibility(spec))
    job->extras = std::make_unique<JobExtras>(JobExtras{spec.seed, spec.clock_ms, spec.receipt, {}});
  return job;
}

JobSpec SpecOf(const Job& job) {
  JobSpec spec;
  spec.id = job.id;
  spec.tenant = job.account->tenant;
  spec.user = job.account->user;
  spec.mode = job.mode;
  spec.limits.reserve(kLimitCount);
  for (const LimitSpec& limit : kLimitSpecs) {
    const std::uint64_t value = job.limits->Get(limit.id);
    if (value != kUnlimited) spec.limits.emplace_back(std::string(limit.name), value);
  }
  spec.code_hash = job.code_hash_bytes();
  spec.memory_mb = job.memory_mb;
  spec.priority = job.priority;
  spec.deadline_ms = job.deadline_ms;
  spec.retry = job.retry;
  spec.admission = job.admission;
  spec.wasm = job.wasm;
  if (job.extras != nullptr) {
    spec.seed = job.extras->seed;
    spec.clock_ms = job.extras->clock_ms;
    spec.receipt = job.extras->receipt;
  }
  return spec;
}

Program ProgramOf(const Job& job) {
  return {job.account->tenant.str(), job.code_hash_bytes(), job.payloads[0].bytes()};
}

Need NeedOf(const JobSpec& spec) {
  return {spec.memory_mb, AsksForReproducibility(spec) ? Skill::kReproducible : Skill::kPlain};
}

Need NeedOf(const Job& job) {
  const JobExtras* extras = job.extras.get();
  const bool asks = extras != nullptr && (extras->seed || extras->clock_ms || extras->receipt);
  return {job.memory_mb, asks ? Skill::kReproducible : Skill::kPlain};
}

bool Advance(Job& job, JobEvent event) {
  const std::optional<JobState> next = Next(job.state, event);
  if (!next) {
    log::Error("an event that means nothing in a job's state is ignored",
               {{"job", job.id.str()}, {"event", NameOf(event)}, {"state", NameOf(job.state)}});
    return false;
  }
  job.state = *next;
  return true;
}

}  // namespace skerry::broker
