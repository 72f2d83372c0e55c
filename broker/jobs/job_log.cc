#include "broker/jobs/job_log.h"

#include <algorithm>
#include <string>

#include "common/hash.h"
#include "common/logging.h"

namespace skerry::broker {

void LogRejected(const Session& session, const JobId& id, Rejection reason, const JobError& error) {
  log::Debug("job rejected", {{"job", id.str()},
                              {"client", session.id.str()},
                              {"reason", NameOf(reason)},
                              {"code", NameOf(error.code)},
                              {"limit", error.limit}});
}

void LogDispatch(const Job& job, const Worker& worker) {
  if (!log::On(log::Level::kDebug)) return;
  log::Debug("job dispatched", {{"job", job.id.str()},
                                {"tenant", job.account->tenant.str()},
                                {"user", job.account->user.str()},
                                {"client", job.session->id.str()},
                                {"worker", worker.session.str()},
                                {"lease", job.lease->id.value()},
                                {"attempt", job.attempt},
                                {"queueMs", job.queue_ms}});
}

void LogEnd(const Job& job, const wire::Final& final) {
  if (!log::On(log::Level::kDebug)) return;
  log::Debug("job ended", {{"job", job.id.str()},
                           {"tenant", job.account->tenant.str()},
                           {"user", job.account->user.str()},
                           {"client", job.session->id.str()},
                           {"worker", job.lease == nullptr ? "" : job.lease->worker->session.str()},
                           {"lease", job.lease == nullptr ? 0 : job.lease->id.value()},
                           {"attempt", std::max(final.attempt, job.attempt)},
                           {"code", final.ok ? "ok" : NameOf(final.code)},
                           {"limit", final.ok ? "" : final.limit},
                           {"wallMs", final.usage.wall_ms}});
}

void LogCrashRefusal(const Job& job, const CrashRefusal& refusal) {
  const std::string program = job.code_hash == nullptr ? "unnamed" : Hex(job.code_hash_bytes());
  const LogFields fields = {{"tenant", job.account->tenant.str()},
                            {"program", program},
                            {"job", job.id.str()},
                            {"crashes", refusal.crashes},
                            {"refusedMs", refusal.remaining.count()}};
  if (refusal.of == CrashRefusal::Of::kTenant) {
    log::Warn("tenant keeps crashing: its jobs are refused for a while", fields);
  } else {
    log::Warn("program keeps crashing: it is refused for a while", fields);
  }
}

}  // namespace skerry::broker
