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

enum class Role : std::uint8_t { kClient, kWorker };
/// How the client answered a host call; kRefused is the worker's: the answer passed maxDataBytes.
enum class AnswerKind : std::uint8_t { kValue, kError, kRefused };

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

  template <class V>
  void Visit(V& v) {
    v.Required("v", version);
    v.Optional("vOldest", oldest_version);
    v.Required("role", role);
    v.Required("session", session);
    v.Optional("tenant", tenant);
    v.Optional("software", software);
    v.Optional("caps", capabilities);
    v.Optional("slots", slots);
    v.Optional("memoryMb", memory_mb);
  }
};

/// The broker's answer to HELLO.
struct Welcome {
  static constexpr std::string_view kType = "welcome";
  std::uint32_t version = kVersion;  ///< the version to speak
  std::uint64_t session_ttl_ms = 0;  ///< how long jobs and finals outlive the connection
  std::uint64_t heartbeat_ms = 0;    ///< send at least a PING this often
  std::uint64_t credit = 0;          ///< clients: jobs that may be unfinished at once
  bool resumed = false;  ///< the session was known: a client's jobs and finals, a worker's leases are

  template <class V>
  void Visit(V& v) {
    v.Required("v", version);
    v.Optional("sessionTtlMs", session_ttl_ms);
    v.Optional("heartbeatMs", heartbeat_ms);
    v.Optional("credit", credit);
    v.Optional("resumed", resumed);
  }
};

/// The link is not possible; the sender forgets the peer. Versions, capabilities, role.
struct Refuse {
  static constexpr std::string_view kType = "refuse";
  std::string reason;

  template <class V>
  void Visit(V& v) {
    v.Required("reason", reason);
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
}

/// Client to broker. Payloads: code (UTF-8), input (JSON text; empty: undefined).
struct Submit {
  static constexpr std::string_view kType = "submit";
  JobSpec job;

  template <class V>
  void Visit(V& v) {
    VisitJob(v, job);
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
/// set.
struct Dispatch {
  static constexpr std::string_view kType = "dispatch";
  LeaseId lease;
  SessionId session;
  std::uint32_t attempt = 1;
  std::uint64_t seed = 0;  ///< worker to isolate: of Math.random
  JobSpec job;

  template <class V>
  void Visit(V& v) {
    v.Required("lease", lease);
    v.Optional("session", session);
    v.Optional("attempt", attempt);
    v.Optional("seed", seed);
    VisitJob(v, job);
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

  template <class V>
  void Visit(V& v) {
    v.Optional("id", id);
    v.Optional("lease", lease);
    v.Optional("attempt", attempt);
    v.Required("event", type);
    v.Optional("level", level);
    v.Optional("truncated", truncated);
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

/// A host call, isolate to worker to broker to client. Payloads: method (UTF-8), params (JSON text).
struct Call {
  static constexpr std::string_view kType = "call";
  JobId id;
  LeaseId lease;
  std::uint32_t attempt = 1;
  std::uint32_t call = 0;  ///< from 1 within an attempt

  template <class V>
  void Visit(V& v) {
    v.Optional("id", id);
    v.Optional("lease", lease);
    v.Optional("attempt", attempt);
    v.Required("call", call);
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

/// How a job ended, exactly once. Payload: the value's JSON text when ok, else an ErrorDetail map.
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
  Usage usage;

  template <class V>
  void Visit(V& v) {
    v.Optional("id", id);
    v.Optional("lease", lease);
    v.Optional("attempt", attempt);
    v.Required("ok", ok);
    v.Optional("code", code);
    v.Optional("limit", limit);
    v.Optional("fault", fault);
    v.Optional("started", started);
    v.Optional("retryable", retryable);
    v.Optional("retryAfterMs", retry_after_ms);
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
    v.Required("ids", ids);
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

struct Ping {
  static constexpr std::string_view kType = "ping";
  template <class V>
  void Visit(V&) {}
};

struct Pong {
  static constexpr std::string_view kType = "pong";
  template <class V>
  void Visit(V&) {}
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

using Header = std::variant<Hello, Welcome, Refuse, Submit, Accepted, Dispatch, Event, Dropped, Call, Answer,
                            Cancel, Final, Ack, Credit, Ping, Pong, Drain, Bye>;

/// A Final header and its payload for an outcome; `id`/`lease` are the caller's to set.
Final ToFinal(const Outcome& outcome);
std::string DetailPayload(const JobError& error);
/// The way back; `payload` is the FINAL's only payload frame. A damaged ErrorDetail leaves the texts empty.
Outcome ToOutcome(const Final& final, std::string payload);

}  // namespace skerry::wire
