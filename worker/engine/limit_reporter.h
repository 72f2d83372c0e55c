// Tells the worker that a limit has curtailed the job, the first time it does.
//
// Threads: one. Ownership: borrows the port. Errors: none.
#pragma once

#include "common/limit_set.h"
#include "worker/engine/job_port.h"

namespace skerry::engine {

class LimitReporter {
 public:
  explicit LimitReporter(JobPort& port) : port_(port) {}

  void Trip(LimitId limit) {
    if (tripped_.Add(limit)) port_.SendTripped(limit);
  }

 private:
  JobPort& port_;
  LimitSet tripped_;
};

}  // namespace skerry::engine
