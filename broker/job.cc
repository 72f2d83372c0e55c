#include "broker/job.h"

#include "common/logging.h"

namespace skerry::broker {

Need NeedOf(const JobSpec& spec) {
  return {spec.memory_mb, AsksForReproducibility(spec) ? Skill::kReproducible : Skill::kPlain};
}

bool Advance(Job& job, JobEvent event) {
  const std::optional<JobState> next = Next(job.state, event);
  if (!next) {
    log::Error("an event that means nothing in a job's state is ignored",
               {{"job", job.spec.id.str()}, {"event", NameOf(event)}, {"state", NameOf(job.state)}});
    return false;
  }
  job.state = *next;
  return true;
}

}  // namespace skerry::broker
