#include "broker/jobs/job.h"

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

/// `program` and `reuse` are only a matter of speed.
bool NeedsPrograms(const LibraryNames& libraries, Encoding encoding) {
  return !libraries.empty() || encoding != Encoding::kJson;
}

}  // namespace

std::size_t AccountHash::operator()(const Account& account) const {
  return Mix(std::hash<TenantId>()(account.tenant), std::hash<UserId>()(account.user));
}

std::size_t TermsHash::operator()(const Terms& terms) const {
  std::size_t sum = 0;
  for (const LimitSpec& limit : kLimitSpecs) sum = Mix(sum, terms.limits.Get(limit.id));
  for (const std::string& library : terms.libraries) sum = Mix(sum, std::hash<std::string>()(library));
  for (const auto part :
       {static_cast<std::size_t>(terms.mode), std::size_t{terms.wasm}, std::size_t{terms.program},
        static_cast<std::size_t>(terms.reuse), static_cast<std::size_t>(terms.encoding)}) {
    sum = Mix(sum, part);
  }
  return sum;
}

std::unique_ptr<Job> MakeJob(const JobSpec& spec, const Limits& limits, SharedParts& shared) {
  auto job = std::make_unique<Job>();
  job->id = spec.id;
  job->account = shared.accounts.Hold({spec.tenant, spec.user});
  job->terms = shared.terms.Hold(
      {limits, spec.libraries, spec.mode, spec.wasm, spec.program, spec.reuse, spec.encoding});
  if (!spec.code_hash.empty()) {
    job->code_hash = std::make_unique<Job::CodeHash>();
    std::copy_n(spec.code_hash.begin(), std::min(spec.code_hash.size(), job->code_hash->size()),
                job->code_hash->begin());
  }
  job->memory_mb = static_cast<std::uint32_t>(limits.memory_mb());
  job->deadline_ms = static_cast<std::uint32_t>(spec.deadline_ms);
  job->priority = static_cast<std::int8_t>(spec.priority);
  job->retry = spec.retry;
  job->admission = spec.admission;
  job->cancel_on_disconnect = spec.on_disconnect == OnDisconnect::kCancel;
  if (AsksForReproducibility(spec))
    job->extras = std::make_unique<JobExtras>(JobExtras{spec.seed, spec.clock_ms, spec.receipt, {}});
  return job;
}

JobSpec SpecOf(const Job& job) {
  JobSpec spec;
  spec.id = job.id;
  spec.tenant = job.account->tenant;
  spec.user = job.account->user;
  spec.mode = job.terms->mode;
  spec.limits.reserve(kLimitCount);
  for (const LimitSpec& limit : kLimitSpecs) {
    const std::uint64_t value = job.limits().Get(limit.id);
    if (value != kUnlimited) spec.limits.emplace_back(std::string(limit.name), value);
  }
  spec.code_hash = job.code_hash_bytes();
  spec.memory_mb = job.memory_mb;
  spec.priority = job.priority;
  spec.deadline_ms = job.deadline_ms;
  spec.retry = job.retry;
  spec.admission = job.admission;
  spec.wasm = job.terms->wasm;
  spec.libraries = job.terms->libraries;
  spec.program = job.terms->program;
  spec.reuse = job.terms->reuse;
  spec.encoding = job.terms->encoding;
  if (job.extras != nullptr) {
    spec.seed = job.extras->seed;
    spec.clock_ms = job.extras->clock_ms;
    spec.receipt = job.extras->receipt;
  }
  return spec;
}

const Account& AccountOf(const Job& job) {
  static const Account kNobody;
  return job.account ? *job.account : kNobody;
}

Program ProgramOf(const Job& job) {
  return {job.account->tenant.str(), job.code_hash_bytes(), job.payloads[0].bytes()};
}

Need NeedOf(const JobSpec& spec) {
  const Skill skill = NeedsPrograms(spec.libraries, spec.encoding) ? Skill::kPrograms
                      : AsksForReproducibility(spec)               ? Skill::kReproducible
                                                                   : Skill::kPlain;
  return {spec.memory_mb, skill, spec.libraries};
}

Need NeedOf(const Job& job) {
  if (job.terms && NeedsPrograms(job.terms->libraries, job.terms->encoding))
    return {job.memory_mb, Skill::kPrograms, job.terms->libraries};
  const JobExtras* extras = job.extras.get();
  const bool asks = extras != nullptr && (extras->seed || extras->clock_ms || extras->receipt);
  return {job.memory_mb, asks ? Skill::kReproducible : Skill::kPlain, {}};
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
