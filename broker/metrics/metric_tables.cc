#include "broker/metrics/metric_tables.h"

#include <array>

#include "broker/outbox.h"
#include "common/job.h"

namespace skerry::broker {
namespace {

using C = BrokerCounters;
using G = BrokerGauges;

template <class Enum>
std::string_view LabelOf(std::size_t index) {
  return NameOf(static_cast<Enum>(index));
}
std::string_view CodeLabel(std::size_t index) {
  return index == 0 ? "ok" : NameOf(static_cast<Code>(index - 1));
}
std::string_view LimitLabel(std::size_t index) {
  return index < kLimitCount ? NameOf(static_cast<LimitId>(index))
                             : NameOf(static_cast<PoolLimit>(index - kLimitCount));
}
template <std::size_t N>
using Names = std::array<std::string_view, N>;
constexpr Names<2> kDropCauses = {"limit", "client_away"};
constexpr Names<2> kDirections = {"request", "answer"};
constexpr Names<2> kRateDeciders = {"redis", "share"};
constexpr Names<2> kSides = {"client", "worker"};
constexpr Names<2> kSlotStates = {"used", "free"};
constexpr Names<2> kMemoryStates = {"promised", "free"};
template <const auto& names>
std::string_view NameAt(std::size_t index) {
  return names[index];
}

constexpr double kMiB = 1024.0 * 1024.0;

constexpr CounterRow kCounters[] = {
    {"skerry_jobs_submitted_total", "Jobs submitted: accepted or rejected.",
     [](const C& c) { return c.submitted; }},
    {"skerry_jobs_resubmitted_total", "Jobs submitted again under the same id, and answered without a run.",
     [](const C& c) { return c.resubmitted; }},
    {"skerry_jobs_accepted_total", "Jobs taken into the queue.", [](const C& c) { return c.accepted; }},
    {"skerry_jobs_dispatched_total", "Dispatches to workers.", [](const C& c) { return c.dispatched; }},
    {"skerry_jobs_redispatched_total", "Jobs sent again after their worker was lost.",
     [](const C& c) { return c.redispatched; }},
    {"skerry_jobs_turned_down_total", "Dispatches that the worker had no room, or no cell, for after all.",
     [](const C& c) { return c.turned_down; }},
    {"skerry_jobs_refused_in_queue_total",
     "Queued jobs refused: their program or tenant kept crashing, or no worker was there and their client "
     "has other brokers.",
     [](const C& c) { return c.refused_in_queue; }},
    {"skerry_program_evictions_total", "Programs whose code had to make room for others'.",
     [](const C& c) { return c.program_evictions; }},
    {"skerry_redis_losses_total", "Times that the Redis through which brokers share rates was lost.",
     [](const C& c) { return c.redis_losses; }},
    {"skerry_result_bytes_total", "Bytes of the values of jobs that ended ok.",
     [](const C& c) { return c.result_bytes; }},
    {"skerry_backlog_dropped_total",
     "Events and host calls that were not kept for a client that was away, or read too slowly.",
     [](const C& c) { return c.dropped_events; }},
    {"skerry_host_calls_total", "Host calls passed on to clients.", [](const C& c) { return c.host_calls; }},
    {"skerry_host_answers_total", "Answers to host calls passed on to workers.",
     [](const C& c) { return c.host_answers; }},
    {"skerry_stray_finals_total", "Finals for leases their worker did not hold.",
     [](const C& c) { return c.stray_finals; }},
    {"skerry_stray_messages_total",
     "Events and host calls for leases that their worker did not hold, answers to runs that were over.",
     [](const C& c) { return c.stray_messages; }},
    {"skerry_unheard_messages_total",
     "Messages on connections whose key was revoked after they had come in: dropped unread.",
     [](const C& c) { return c.unheard_messages; }},
    {"skerry_late_messages_total", "Messages for leases that had been taken from their worker: no lie.",
     [](const C& c) { return c.late_messages; }},
    {"skerry_repeated_messages_total",
     "Messages that a worker sent again after a broken link, and that had come.",
     [](const C& c) { return c.repeated_messages; }},
    {"skerry_unknown_messages_total", "Messages of a type that only newer peers know; ignored.",
     [](const C& c) { return c.unknown_messages; }},
    {"skerry_workers_cut_off_total", "Workers refused because they said what cannot be true.",
     [](const C& c) { return c.workers_cut_off; }},
    {"skerry_worker_reruns_total", "Jobs that a worker ran again by itself on another isolate.",
     [](const C& c) { return c.workers.reruns; }},
    {"skerry_worker_lost_events_total",
     "Events that a worker dropped because too much waited for the broker; counted as dropped, too.",
     [](const C& c) { return c.workers.lost_events; }},
};

constexpr CounterFamilyRow kCounterFamilies[] = {
    {"skerry_jobs_rejected_total", "Jobs refused before they were queued, by reason.", "reason",
     kRejectionCount, &LabelOf<Rejection>, [](const C& c, std::size_t i) { return c.rejected[i]; }},
    {"skerry_jobs_finished_total",
     "Jobs ended, rejected ones included, by outcome code (ok or an error code).", "code", kCodeCount + 1,
     &CodeLabel, [](const C& c, std::size_t i) { return i == 0 ? c.finished_ok : c.finished_error[i - 1]; }},
    {"skerry_jobs_failed_total", "Jobs ended other than ok, by whose fault it was.", "fault", kFaultCount,
     &LabelOf<Fault>, [](const C& c, std::size_t i) { return c.failed[i]; }},
    {"skerry_limit_trips_total",
     "Jobs that a limit ended or curtailed, once per job and limit. maxConcurrentIsolates and workerMemoryMb "
     "count jobs turned away because no worker had a slot, or the memory, for them.",
     "limit", kLimitCount + kPoolLimitCount, &LimitLabel,
     [](const C& c, std::size_t i) {
       return i < kLimitCount ? c.limit_trips[i] : c.pool_limit_trips[i - kLimitCount];
     }},
    {"skerry_program_submits_total",
     "Jobs with a program, by how its code came: sent along, left out and found here, needed (asked for; the "
     "job was not taken).",
     "code", kCodeWayCount, &LabelOf<CodeWay>,
     [](const C& c, std::size_t i) { return c.program_submits[i]; }},
    {"skerry_program_dispatches_total",
     "Dispatches of programs, by how the code went: sent along, left out, needed (asked for by the worker "
     "and "
     "sent again; counted as left out, too).",
     "code", kCodeWayCount, &LabelOf<CodeWay>,
     [](const C& c, std::size_t i) { return c.program_dispatches[i]; }},
    {"skerry_rates_decided_total",
     "Jobs of tenants with a rate that brokers share, by who decided whether they may pass: Redis, or this "
     "broker's share while Redis was lost.",
     "by", kRateDeciders.size(), &NameAt<kRateDeciders>,
     [](const C& c, std::size_t i) { return i == 0 ? c.rated_by_redis : c.rated_by_share; }},
    {"skerry_events_relayed_total", "Events of jobs passed on to clients, by type.", "type", 2,
     &LabelOf<EventType>, [](const C& c, std::size_t i) { return c.events_relayed[i]; }},
    {"skerry_events_dropped_total",
     "Events of jobs dropped: past a limit of the job, or because its client was away for too much.", "cause",
     kDropCauses.size(), &NameAt<kDropCauses>,
     [](const C& c, std::size_t i) { return i == 0 ? c.dropped_by_limit : c.dropped_events; }},
    {"skerry_host_call_bytes_total",
     "Bytes of host calls: methods and params of requests, values and messages of answers.", "direction",
     kDirections.size(), &NameAt<kDirections>,
     [](const C& c, std::size_t i) { return i == 0 ? c.host_call_bytes : c.host_answer_bytes; }},
    {"skerry_malformed_messages_total", "Messages that are none, by the side they came from.", "side",
     kSides.size(), &NameAt<kSides>, [](const C& c, std::size_t i) { return c.malformed[i]; }},
    {"skerry_peers_refused_total", "REFUSE sent to clients and workers, by reason.", "reason",
     kPeerRefusalCount, &LabelOf<PeerRefusal>, [](const C& c, std::size_t i) { return c.refused[i]; }},
    {"skerry_handshakes_refused_total",
     "Connections that were not let in, or hung up on for a message without end, by reason.", "reason",
     kHandshakeRefusalCount, &LabelOf<HandshakeRefusal>,
     [](const C& c, std::size_t i) { return c.handshakes_refused[i]; }},
    {"skerry_isolate_exits_total",
     "Ends of isolates' processes: by themselves, of a signal, or killed by their worker, and what for.",
     "cause", kIsolateExitCount, &LabelOf<IsolateExit>,
     [](const C& c, std::size_t i) { return c.workers.exits[i]; }},
    {"skerry_cell_restarts_total", "Cells replaced, and starts of cells that failed, by reason.", "reason",
     kCellRestartCount, &LabelOf<CellRestart>,
     [](const C& c, std::size_t i) { return c.workers.cell_restarts[i]; }},
    {"skerry_derived_cells_total",
     "Cells forked from others, with libraries or with a program evaluated: what became of them, and jobs "
     "that "
     "started in them.",
     "event", kDerivedCellEventCount, &LabelOf<DerivedCellEvent>,
     [](const C& c, std::size_t i) { return c.workers.derived_cells[i]; }},
};

constexpr GaugeRow kGauges[] = {
    {"skerry_queued_jobs", "Jobs waiting for a worker.",
     [](const G& g) { return static_cast<double>(g.queued); }},
    {"skerry_queued_bytes", "Payload bytes of the jobs that wait.",
     [](const G& g) { return static_cast<double>(g.queued_bytes); }},
    {"skerry_parked_jobs", "Queued jobs that wait for a worker with their libraries.",
     [](const G& g) { return static_cast<double>(g.parked); }},
    {"skerry_program_bytes", "Bytes of the code of programs that is kept, and of its books.",
     [](const G& g) { return static_cast<double>(g.program_bytes); }},
    {"skerry_rate_brokers",
     "Brokers that share rates through Redis, as last seen; while it is lost each enforces its part. 0: none "
     "is configured.",
     [](const G& g) { return static_cast<double>(g.rates.brokers); }},
    {"skerry_redis_up",
     "1 while rates are shared through Redis; 0 while it is lost, and where none is configured.",
     [](const G& g) { return g.rates.up ? 1.0 : 0.0; }},
    {"skerry_running_jobs", "Leases held by workers.",
     [](const G& g) { return static_cast<double>(g.workers.slots_used); }},
    {"skerry_workers", "Workers connected.",
     [](const G& g) { return static_cast<double>(g.workers.workers); }},
    {"skerry_workers_accepting", "Workers that take jobs: neither draining nor without a cell.",
     [](const G& g) { return static_cast<double>(g.workers.accepting); }},
    {"skerry_worker_spares", "Isolates forked ahead of need.",
     [](const G& g) { return static_cast<double>(g.workers.spares); }},
    {"skerry_worker_cells", "Cells that can fork.",
     [](const G& g) { return static_cast<double>(g.workers.cells); }},
    {"skerry_sessions", "Client sessions, absent clients' included.",
     [](const G& g) { return static_cast<double>(g.sessions.sessions); }},
    {"skerry_sessions_away", "Client sessions without a connection.",
     [](const G& g) { return static_cast<double>(g.sessions.away); }},
    {"skerry_unacknowledged_finals", "Finals kept until their clients acknowledge them.",
     [](const G& g) { return static_cast<double>(g.sessions.unacked_finals); }},
    {"skerry_unacknowledged_final_bytes", "Payload bytes of these.",
     [](const G& g) { return static_cast<double>(g.sessions.unacked_bytes); }},
    {"skerry_backlog_bytes", "Bytes of events and host calls kept for absent clients.",
     [](const G& g) { return static_cast<double>(g.sessions.backlog_bytes); }},
};

constexpr GaugeFamilyRow kGaugeFamilies[] = {
    {"skerry_worker_slots",
     "Isolates that workers may run at once: in use, and free on those that take jobs.", "state",
     kSlotStates.size(), &NameAt<kSlotStates>,
     [](const G& g, std::size_t i) {
       return static_cast<double>(i == 0 ? g.workers.slots_used : g.workers.slots_free);
     }},
    {"skerry_worker_memory_bytes", "Memory of workers for jobs: promised, and free on those that take jobs.",
     "state", kMemoryStates.size(), &NameAt<kMemoryStates>,
     [](const G& g, std::size_t i) {
       return kMiB * static_cast<double>(i == 0 ? g.workers.memory_promised_mb : g.workers.memory_free_mb);
     }},
};

constexpr HistogramRow kHistograms[] = {
    {"skerry_job_queue_seconds", "From a job's acceptance to its dispatch, or to its end in the queue.",
     [](const C& c) -> const TimeHistogram& { return c.queue_times; }},
    {"skerry_job_run_seconds", "Wall clock time of jobs that ran, as their worker measured it.",
     [](const C& c) -> const TimeHistogram& { return c.run_times; }},
    {"skerry_job_cpu_seconds", "CPU time of jobs that ran, the kernel's figure.",
     [](const C& c) -> const TimeHistogram& { return c.cpu_times; }},
    {"skerry_fork_seconds", "From asking a cell for an isolate to having it.",
     [](const C& c) -> const TimeHistogram& { return c.workers.fork_times; }},
};

}  // namespace

std::span<const CounterRow> CounterRows() {
  return kCounters;
}
std::span<const CounterFamilyRow> CounterFamilyRows() {
  return kCounterFamilies;
}
std::span<const GaugeRow> GaugeRows() {
  return kGauges;
}
std::span<const GaugeFamilyRow> GaugeFamilyRows() {
  return kGaugeFamilies;
}
std::span<const HistogramRow> HistogramRows() {
  return kHistograms;
}

}  // namespace skerry::broker
