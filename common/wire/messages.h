// Every header of the wire, one struct per message; schemas/wire.md is the prose.
//
// A message is one header map (MessagePack, at most kMaxHeaderBytes) and up to two opaque payload frames that
// are forwarded without being read. Which payloads a message has stands beside its struct. The same headers
// travel between client and broker, broker and worker (ZeroMQ frames), and worker and isolate (stream.h).
//
// `id` names a job towards a client, `lease` the dispatch of a job towards a worker; a message carries the
// one that its receiver knows. Each struct lists its fields once, in Visit; encoder, decoder and schema all
// read that list.
//
// Threads: plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/ids.h"
#include "common/job.h"
#include "common/outcome.h"

namespace skerry::wire {

/// The version of these tables. A peer of another version works or is refused at HELLO.
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kOldestVersion = 1;
inline constexpr std::size_t kMaxHeaderBytes = 64 * 1024;
inline constexpr std::size_t kMaxPayloads = 2;
/// Entries of the longest array: leases of a HELLO, ids of an ACK. A worker has at most this many slots, so
/// that it can always name all it holds.
inline constexpr std::size_t kMaxArray = 4096;
inline constexpr std::size_t kMaxMapKeys = 64;
inline constexpr std::size_t kMaxDepth = 4;

/// What a field's value may be: of a number the value, of a text its bytes, of a list its entries.
struct Bound {
  std::uint64_t min = 0;
  std::uint64_t max = UINT64_MAX;
};
constexpr Bound UpTo(std::uint64_t max) {
  return {0, max};
}

enum class Role : std::uint8_t { kClient, kWorker };
/// How the client answered a host call; kRefused is the worker's: the answer passed maxDataBytes.
enum class AnswerKind : std::uint8_t { kValue, kError, kRefused };

/// Counts by name; a name that the reader does not know is its to ignore.
struct NamedCounts {
  std::vector<std::pair<std::string, std::uint64_t>> entries;
  bool operator==(const NamedCounts&) const = default;
};

std::string_view NameOf(Role role);
std::string_view NameOf(AnswerKind kind);
std::optional<Role> RoleByName(std::string_view name);
std::optional<AnswerKind> AnswerKindByName(std::string_view name);

/// First message of a client or worker on a link.
struct Hello {
  static constexpr std::string_view kType = "hello";
  std::uint32_t version = kVersion;  ///< newest version spoken
  std::uint32_t oldest_version = kOldestVersion;
  Role role = Role::kClient;
  SessionId session;                      ///< stable across reconnects
  TenantId tenant;                        ///< clients: the tenant of jobs that name none
  std::string software;                   ///< "skerry/0.1.0 (V8 14.6...)": for logs
  std::vector<std::string> capabilities;  ///< unknown ones are ignored
  std::uint64_t slots = 0;                ///< workers: maxConcurrentIsolates
  std::uint64_t memory_mb = 0;            ///< workers: workerMemoryMb left for jobs
  std::uint64_t job_memory_mb = 0;        ///< workers: the most that one job can have of it; 0: all
  std::string v8;                         ///< workers: the V8 version of their cells
  std::string sandbox;                    ///< workers: the SandboxLevel of their cells
  std::string host;                       ///< workers: this and the next: where an operator finds it
  std::uint64_t pid = 0;
  std::vector<std::string> libraries;  ///< workers: that a job can name
  std::vector<LeaseId> leases;         ///< workers: held, or ended with a FINAL that may not have arrived
  std::uint64_t epoch = 0;             ///< clients: of the last WELCOME; 0: none yet, or it keeps no count
  std::uint64_t seen = 0;              ///< clients: the highest `seq` of that epoch that came

  template <class V>
  void Visit(V& v) {
    v.Required("v", version);
    v.Optional("vOldest", oldest_version);
    v.Required("role", role);
    v.Required("session", session);
    v.Optional("tenant", tenant);
    v.Optional("software", software, UpTo(256));
    v.Optional("caps", capabilities, UpTo(64));
    v.Optional("slots", slots);
    v.Optional("memoryMb", memory_mb);
    v.Optional("jobMemoryMb", job_memory_mb);
    v.Optional("v8", v8, UpTo(64));
    v.Optional("sandbox", sandbox, UpTo(64));
    v.Optional("host", host, UpTo(64));
    v.Optional("pid", pid);
    v.Optional("libraries", libraries, UpTo(64));
    v.Optional("leases", leases, UpTo(kMaxArray));
    v.Optional("epoch", epoch);
    v.Optional("seen", seen);
  }
};

/// The broker's answer to HELLO.
struct Welcome {
  static constexpr std::string_view kType = "welcome";
  std::uint32_t version = kVersion;  ///< the version to speak
  std::uint64_t session_ttl_ms = 0;  ///< how long jobs and finals outlive the connection
  std::uint64_t heartbeat_ms = 0;    ///< send at least a PING this often
  std::uint64_t credit = 0;          ///< clients: jobs that may be unfinished at once
  /// The session was known: a client's jobs and finals are kept, a worker's leases are its own still. If
  /// not, a worker ends what it runs and says nothing about it.
  bool resumed = false;
  std::vector<std::string>
      capabilities;         ///< those of the HELLO that the broker has too; "stats": send me STATS
  std::uint64_t epoch = 0;  ///< clients: names this life of the session; another one counts `seq` anew

  template <class V>
  void Visit(V& v) {
    v.Required("v", version);
    v.Optional("sessionTtlMs", session_ttl_ms);
    v.Optional("heartbeatMs", heartbeat_ms);
    v.Optional("credit", credit);
    v.Optional("resumed", resumed);
    v.Optional("caps", capabilities, UpTo(64));
    v.Optional("epoch", epoch);
  }
};

/// The link is not possible; the sender forgets the peer. Versions, capabilities, role.
struct Refuse {
  static constexpr std::string_view kType = "refuse";
  std::string reason;

  template <class V>
  void Visit(V& v) {
    v.Required("reason", reason, UpTo(1024));
  }
};

/// Fields of JobSpec, shared by SUBMIT, DISPATCH.
template <class V>
void VisitJob(V& v, JobSpec& job) {
  v.Required("id", job.id);
  v.Optional("tenant", job.tenant);
  v.Optional("user", job.user);
  v.Optional("mode", job.mode);
  v.Optional("limits", job.limits);
  v.OptionalBinary("codeHash", job.code_hash);
  v.Optional("memoryMb", job.memory_mb);
  v.Optional("priority", job.priority);
  v.Optional("deadlineMs", job.deadline_ms);
  v.Optional("retry", job.retry);
  v.Optional("admission", job.admission);
  v.Optional("wasm", job.wasm);
  v.Optional("seed", job.seed, UpTo(kMaxSeed));
  v.Optional("clock", job.clock_ms, UpTo(kMaxClockMs));
  v.Optional("receipt", job.receipt);
  v.Optional("libraries", job.libraries, UpTo(kMaxLibraries));
  v.Optional("program", job.program);
  v.Optional("reuse", job.reuse);
  v.Optional("encoding", job.encoding);
}

/// Client to broker. Payloads: code (UTF-8), input (JSON text; empty: undefined). Where `program` is true the
/// code may be left out (an empty frame), if the broker may have it: `codeHash` names it.
struct Submit {
  static constexpr std::string_view kType = "submit";
  JobSpec job;

  template <class V>
  void Visit(V& v) {
    VisitJob(v, job);
    v.Optional("turn", job.turn);
    v.Optional("turnExecutions", job.turn_executions);
    v.Optional("onDisconnect", job.on_disconnect);
  }
};

/// Broker to client: the job is queued. A refusal is a FINAL instead.
struct Accepted {
  static constexpr std::string_view kType = "accepted";
  JobId id;

  template <class V>
  void Visit(V& v) {
    v.Required("id", id);
  }
};

/// Broker to worker, and worker to isolate. Payloads: code, input. `job.limits` names every limit that is
/// set; towards an isolate `job.seed` is set as well. Towards a worker the code of a `program` may be left
/// out, as in SUBMIT.
struct Dispatch {
  static constexpr std::string_view kType = "dispatch";
  LeaseId lease;
  SessionId session;
  std::uint32_t attempt = 1;
  JobSpec job;

  template <class V>
  void Visit(V& v) {
    v.Required("lease", lease);
    v.Optional("session", session);
    v.Optional("attempt", attempt);
    VisitJob(v, job);
  }
};

/// The way back of a SUBMIT or DISPATCH whose code was left out and is not there: it has not been taken, send
/// it again with its code. By `id` towards a client, by `lease` towards a broker.
struct Need {
  static constexpr std::string_view kType = "need";
  JobId id;
  LeaseId lease;

  template <class V>
  void Visit(V& v) {
    v.Optional("id", id);
    v.Optional("lease", lease);
  }
};

/// Isolate to worker to broker to client. Payload: console text, or JSON text of a status.
struct Event {
  static constexpr std::string_view kType = "event";
  JobId id;
  LeaseId lease;
  std::uint32_t attempt = 1;
  EventType type = EventType::kConsole;
  Level level = Level::kLog;
  bool truncated = false;
  std::uint64_t seq = 0;  ///< as in Final

  template <class V>
  void Visit(V& v) {
    v.Optional("id", id);
    v.Optional("lease", lease);
    v.Optional("attempt", attempt);
    v.Required("event", type);
    v.Optional("level", level);
    v.Optional("truncated", truncated);
    v.Optional("seq", seq);
  }
};

/// Isolate to worker only: events dropped so far, for the usage of a job that is killed later.
struct Dropped {
  static constexpr std::string_view kType = "dropped";
  std::uint64_t events = 0;

  template <class V>
  void Visit(V& v) {
    v.Required("events", events);
  }
};

/// Isolate to worker only, once per limit: a limit has curtailed the job, which goes on. The worker counts
/// those that it cannot see for itself, and all of them for a job that is killed later.
struct Tripped {
  static constexpr std::string_view kType = "tripped";
  std::string limit;

  template <class V>
  void Visit(V& v) {
    v.Required("limit", limit, UpTo(64));
  }
};

/// A host call, isolate to worker to broker to client. Payloads: method (UTF-8), params (JSON text).
struct Call {
  static constexpr std::string_view kType = "call";
  JobId id;
  LeaseId lease;
  std::uint32_t attempt = 1;
  std::uint32_t call = 0;  ///< from 1 within an attempt
  std::uint64_t seq = 0;   ///< as in Final

  template <class V>
  void Visit(V& v) {
    v.Optional("id", id);
    v.Optional("lease", lease);
    v.Optional("attempt", attempt);
    v.Required("call", call);
    v.Optional("seq", seq);
  }
};

/// The way back. Payload: JSON text of the value, the error's message, or nothing (refused).
struct Answer {
  static constexpr std::string_view kType = "answer";
  JobId id;
  LeaseId lease;
  std::uint32_t attempt = 1;
  std::uint32_t call = 0;
  AnswerKind kind = AnswerKind::kValue;

  template <class V>
  void Visit(V& v) {
    v.Optional("id", id);
    v.Optional("lease", lease);
    v.Optional("attempt", attempt);
    v.Required("call", call);
    v.Optional("kind", kind);
  }
};

/// Client to broker (by id), broker to worker (by lease). Nothing happens when the job is not there any more.
struct Cancel {
  static constexpr std::string_view kType = "cancel";
  JobId id;
  LeaseId lease;

  template <class V>
  void Visit(V& v) {
    v.Optional("id", id);
    v.Optional("lease", lease);
  }
};

/// How a job ended, exactly once. Payloads: the value's JSON text when ok, else an ErrorDetail map; and the
/// receipt where the job asked for one and a run of it had begun.
struct Final {
  static constexpr std::string_view kType = "final";
  JobId id;
  LeaseId lease;
  std::uint32_t attempt = 1;
  bool ok = false;
  Code code = Code::kRuntime;  ///< this and the next five: when not ok
  std::string limit;
  Fault fault = Fault::kProgram;
  bool started = false;
  bool retryable = false;
  std::uint32_t retry_after_ms = 0;
  /// Worker to broker only: runs that crashed, also where another made that good.
  std::uint32_t crashes = 0;
  Usage usage;
  /// Counts EVENT, CALL and FINAL of one direction of a session, from 1; 0: not counted. A receiver drops
  /// what it has seen: what a broken link may have lost is sent again.
  std::uint64_t seq = 0;

  template <class V>
  void Visit(V& v) {
    v.Optional("id", id);
    v.Optional("lease", lease);
    v.Optional("attempt", attempt);
    v.Required("ok", ok);
    v.Optional("code", code);
    v.Optional("limit", limit, UpTo(64));
    v.Optional("fault", fault);
    v.Optional("started", started);
    v.Optional("retryable", retryable);
    v.Optional("retryAfterMs", retry_after_ms);
    v.Optional("crashes", crashes);
    v.Optional("queueMs", usage.queue_ms);
    v.Optional("wallMs", usage.wall_ms);
    v.Optional("cpuMs", usage.cpu_ms);
    v.Optional("memoryPeakBytes", usage.memory_peak_bytes);
    v.Optional("heapPeakBytes", usage.heap_peak_bytes);
    v.Optional("dataRequests", usage.data_requests);
    v.Optional("dataBytes", usage.data_bytes);
    v.Optional("statusEvents", usage.status_events);
    v.Optional("consoleEvents", usage.console_events);
    v.Optional("droppedEvents", usage.dropped_events);
    v.Optional("resultBytes", usage.result_bytes);
    v.Optional("trips", usage.tripped, UpTo(kLimitCount));
    v.Optional("seq", seq);
  }
};

/// The payload of a FINAL that is not ok: what the broker has no need to read. Texts at most kMaxErrorBytes
/// each.
struct ErrorDetail {
  static constexpr std::string_view kType = "errorDetail";
  std::string message;
  std::string name;
  std::string stack;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  template <class V>
  void Visit(V& v) {
    v.Optional("message", message);
    v.Optional("name", name);
    v.Optional("stack", stack);
    v.Optional("line", line);
    v.Optional("column", column);
  }
};

/// Client to broker: the finals of these jobs are safe with me, forget them.
struct Ack {
  static constexpr std::string_view kType = "ack";
  std::vector<std::string> ids;

  template <class V>
  void Visit(V& v) {
    v.Required("ids", ids, UpTo(kMaxArray));
  }
};

/// Worker to broker: what may be in use at once from now on. Broker to client: jobs that may be unfinished.
struct Credit {
  static constexpr std::string_view kType = "credit";
  std::uint64_t slots = 0;
  std::uint64_t memory_mb = 0;

  template <class V>
  void Visit(V& v) {
    v.Required("slots", slots);
    v.Optional("memoryMb", memory_mb);
  }
};

/// Worker to broker, where its WELCOME has the capability "stats": the worker's figures (worker_stats.h),
/// counted since its process began, or since a broker welcomed it that did not know its session. Cumulative:
/// one that is lost costs nothing.
struct Stats {
  static constexpr std::string_view kType = "stats";
  NamedCounts exits;          ///< by IsolateExit
  NamedCounts cell_restarts;  ///< by CellRestart
  NamedCounts derived_cells;  ///< by DerivedCellEvent
  NamedCounts fork_us;        ///< by upper bound in microseconds; "inf"
  std::uint64_t fork_sum_us = 0;
  std::uint64_t reruns = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t spares = 0;  ///< this and the next: now
  std::uint64_t cells = 0;

  template <class V>
  void Visit(V& v) {
    v.Optional("exits", exits, UpTo(kMaxMapKeys));
    v.Optional("cellRestarts", cell_restarts, UpTo(kMaxMapKeys));
    v.Optional("derivedCells", derived_cells, UpTo(kMaxMapKeys));
    v.Optional("forkUs", fork_us, UpTo(kMaxMapKeys));
    v.Optional("forkSumUs", fork_sum_us);
    v.Optional("reruns", reruns);
    v.Optional("lostEvents", lost_events);
    v.Optional("spares", spares);
    v.Optional("cells", cells);
  }
};
/// The capability of a broker that takes STATS.
inline constexpr std::string_view kStatsCapability = "stats";

/// "Are you there?", and a mark: the PONG with its number says that all before it has been read.
struct Ping {
  static constexpr std::string_view kType = "ping";
  std::uint64_t number = 0;  ///< 0: a heartbeat that marks nothing

  template <class V>
  void Visit(V& v) {
    v.Optional("n", number);
  }
};

/// To every PING at once, in order.
struct Pong {
  static constexpr std::string_view kType = "pong";
  std::uint64_t number = 0;  ///< the PING's

  template <class V>
  void Visit(V& v) {
    v.Optional("n", number);
  }
};

/// Worker to broker: send me no more jobs; those I hold will be finished.
struct Drain {
  static constexpr std::string_view kType = "drain";
  template <class V>
  void Visit(V&) {}
};

/// Either side: this link ends now, forget me.
struct Bye {
  static constexpr std::string_view kType = "bye";
  template <class V>
  void Visit(V&) {}
};

using Header = std::variant<Hello, Welcome, Refuse, Submit, Accepted, Dispatch, Need, Event, Dropped, Tripped,
                            Call, Answer, Cancel, Final, Ack, Credit, Stats, Ping, Pong, Drain, Bye>;

/// The number that a message about a job carries on its link; 0 of any other, and of one not yet numbered.
std::uint64_t SeqOf(const Header& header);
/// False, and nothing done, for a message that carries no number.
bool SetSeq(Header& header, std::uint64_t seq);

/// A Final header and its payload for an outcome; `id`/`lease` are the caller's to set.
Final ToFinal(const Outcome& outcome);
std::string DetailPayload(const JobError& error);
/// The way back; `payload` is the FINAL's first payload frame. A damaged ErrorDetail leaves the texts empty.
Outcome ToOutcome(const Final& final, std::string payload);

}  // namespace skerry::wire
