// What the debug log says of each job: that it was rejected, dispatched, ended; and the warning when its
// crash begins a refusal. Ids and figures only.
//
// Threads: the core's.
#pragma once

#include "broker/jobs/crash_watch.h"
#include "broker/jobs/job.h"
#include "broker/metrics/counters.h"
#include "broker/sessions/session_registry.h"
#include "broker/workers/worker_registry.h"

namespace skerry::broker {

void LogRejected(const Session& session, const JobId& id, Rejection reason, const JobError& error);
void LogDispatch(const Job& job, const Worker& worker);
/// While the job still has its lease, if it has one.
void LogEnd(const Job& job, const wire::Final& final);
/// The job whose crash was one too many.
void LogCrashRefusal(const Job& job, const CrashRefusal& refusal);

}  // namespace skerry::broker
