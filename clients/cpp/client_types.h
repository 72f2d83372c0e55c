// What goes into a Client and what comes out of it.
//
// Threads: plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "clients/cpp/cases.h"
#include "clients/cpp/program.h"
#include "common/brokers/broker_watch.h"
#include "common/ids.h"
#include "common/job.h"
#include "common/outcome.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry {

/// One job to run. `spec.code_hash` is filled in by the client.
struct JobRequest {
  JobSpec spec;
  std::string code;                        ///< UTF-8
  std::shared_ptr<const Program> program;  ///< in place of `code`, which many jobs share then
  std::string input;  ///< as `spec.encoding` says: JSON text, MessagePack; empty: `input` is undefined
};

/// How to answer `dataProxy.request`.
struct HostReply {
  enum class Kind : std::uint8_t { kValue, kError, kNever };
  Kind kind = Kind::kError;
  std::string text;  ///< JSON text of the value, or the error's message
  Millis delay{0};   ///< answered this much later; no thread waits meanwhile
};

/// Called on one of the client's host call threads, several at once: it must be thread-safe, may block, and
/// may call the client (but not destroy it). `params` is JSON text from the program: hostile input. What it
/// throws rejects the call.
using HostCallHandler =
    std::function<HostReply(const JobId& job, std::string_view method, std::string_view params)>;

/// Which broker a job is with.
struct JobPlacement {
  JobId id;
  std::string endpoint;
};

struct ClientOptions {
  std::string broker;  ///< where it is: an endpoint, a name, or file:PATH (common/brokers/broker_place.h)
  /// In place of it, where there are several: jobs are spread over them, and go on elsewhere when one is
  /// lost. A broker with a key of its own has it behind its place.
  std::vector<std::string> brokers;
  /// One of several brokers that is silent for so long gets no more jobs; what it holds goes to the others as
  /// far as `retry` allows. Less fails over sooner, and runs more jobs twice that a busy broker was slow
  /// about.
  Millis failover_after{3'000};
  /// How often names of brokers are resolved again.
  Millis resolve_every{30'000};
  BrokerLookups lookups = RealLookups();
  /// Of several brokers: told before a job leaves which one gets it, for who may be killed and come back
  /// under the same session...
  std::function<void(const std::vector<JobPlacement>&)> on_placed;
  /// ...and asked then where an earlier life has put it; empty: unknown.
  std::function<std::string(const JobId&)> placed_before;
  /// File of this client's secret key (`skerry keygen --role client`), and the brokers' public key: needed
  /// for tcp:// (on loopback: where the broker wants them), not used for ipc://. The key's tenant is then the
  /// only one that jobs may name.
  std::string key_file;
  std::string broker_key;
  /// Left so, it is the one in the key's file, where there is one.
  TenantId tenant{"default"};
  /// Names this client across its own restarts, 1 to 256 bytes; empty: a new random name. Who comes back by
  /// its old name within the broker's session TTL and submits a job again gets that job's state or final, not
  /// a second run. Two living clients must not share one.
  SessionId session;
  std::string software = "skerry-cpp/0.1.0";
  /// The first WELCOME must come within this.
  Millis connect_timeout{5'000};
  /// A broker silent for this long is looked for again.
  Millis broker_timeout{10'000};
  /// A broker lost for this long is given up: LinkFailed.
  Millis reconnect_timeout{60'000};
  /// Jobs unfinished at once: the smaller of this and the broker's credit. More keeps more workers busy;
  /// fewer needs less memory.
  std::uint64_t max_in_flight = 1024;
  /// Their code and input together, kept here until they end, for a broker that has to be told again. Code
  /// of programs that jobs share counts once.
  Bytes max_in_flight_bytes = Bytes::MiB(256);
  /// Inputs of cases that wait here to be submitted. A first set of cases is taken whatever its size.
  Bytes max_waiting_cases = Bytes::MiB(64);
  /// Events and finals that Next has not taken yet; past it nothing more is read from the broker.
  Bytes max_undelivered = Bytes::MiB(64);
  HostCallHandler on_call;  ///< none: every host call is rejected
  /// Handlers that run at once, 0 to 256. More lets more handlers block; each is a thread. 0: they run on the
  /// client's own thread, which costs no hand-over, and does nothing else meanwhile: for handlers that never
  /// block.
  std::size_t host_call_threads = 4;
  /// Host calls that wait for a thread, method and params together; past it nothing more is read from the
  /// broker.
  Bytes max_waiting_calls = Bytes::MiB(64);
};

/// What became of jobs whose broker was lost, or would not have them.
struct SpreadCounts {
  std::uint64_t moved = 0;        ///< went on with another broker
  std::uint64_t refused = 0;      ///< by one broker, and went to another
  std::uint64_t late_finals = 0;  ///< came from the first broker all the same, and were dropped
};

/// How the broker does, as far as its silence tells.
struct LinkHealth {
  bool answers = true;   ///< heard of within two and a half of its heartbeats
  Millis gives_up_in{};  ///< until LinkFailed unless it is heard of before
  bool late = false;     ///< a heartbeat is overdue: whether it answers will be known soon
  bool stopped = false;  ///< it does not answer, and has said BYE before: it was stopped, not lost
};

/// A console line or a status value of a job that runs. Of a case, here and below, `id` is its name on the
/// wire, and `of_case` says whose it is.
struct JobNotice {
  JobId id;
  std::uint32_t attempt = 1;
  EventType type = EventType::kConsole;
  Level level = Level::kLog;
  bool truncated = false;
  std::string payload;  ///< console: UTF-8 text; status: JSON text
  std::optional<CaseOf> of_case = std::nullopt;
};

/// The job runs again from its beginning: what it said so far is void.
struct JobRestarted {
  JobId id;
  std::optional<CaseOf> of_case = std::nullopt;
};

/// The job's end, exactly one per submitted job or case.
struct JobFinal {
  JobId id;
  Outcome outcome;
  std::optional<CaseOf> of_case = std::nullopt;
};

/// The broker refused us or is gone for good. No event follows; unfinished jobs have no final.
struct LinkFailed {
  Error error;
};

using ClientEvent = std::variant<JobNotice, JobRestarted, JobFinal, CasesEnded, LinkFailed>;

enum class SubmitResult : bool { kFull, kTaken };

}  // namespace skerry
