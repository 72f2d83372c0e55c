#include "broker/job.h"

#include <spdlog/spdlog.h>

namespace skerry::broker {

bool Advance(Job& job, JobEvent event) {
  const std::optional<JobState> next = Next(job.state, event);
  if (!next) {
    spdlog::error("job {}: event {} in state {} ignored", job.spec.id.str(), NameOf(event),
                  NameOf(job.state));
    return false;
  }
  job.state = *next;
  return true;
}

}  // namespace skerry::broker
