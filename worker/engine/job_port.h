// What a running program can do to the outside world: report events and make host calls.
//
// The cell implements it over the isolate's socket; tests and benchmarks implement it in memory. The engine
// has already counted, capped and truncated whatever it passes here; the worker checks it all once more from
// outside.
//
// Threads: one. Every call may block. Errors: none are returned; when the peer is gone the implementation
// ends the process, since an isolate without its worker has nobody to tell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/job.h"
#include "common/limits.h"

namespace skerry::engine {

/// A host's answer to call number `call` (counted from 1 in one job).
struct HostAnswer {
  std::uint32_t call = 0;
  enum class Kind : std::uint8_t {
    kValue,    ///< `text` is JSON text, UTF-8
    kError,    ///< the call rejects with an Error whose message is `text`
    kRefused,  ///< the call rejects with SandboxLimitError for `limit`: the answer passed maxDataBytes
  } kind = Kind::kValue;
  std::string text;
};

class JobPort {
 public:
  virtual ~JobPort() = default;

  /// `payload`: plain text (console) or JSON text (status), UTF-8, at most maxEventBytes.
  virtual void SendEvent(EventType type, Level level, std::string_view payload, bool truncated) = 0;
  /// How many events have been dropped so far; the engine sends it now and then, so that a job that is killed
  /// later still has a figure.
  virtual void SendDropped(std::uint64_t dropped_events) = 0;
  /// A limit has curtailed the job: said once per limit, at once, since the job may be killed before its end.
  virtual void SendTripped(LimitId limit) = 0;
  /// `params` is JSON text, UTF-8.
  virtual void SendCall(std::uint32_t call, std::string_view method, std::string_view params) = 0;
  /// Waits for the next answer, whichever call it is for.
  virtual HostAnswer AwaitAnswer() = 0;
};

}  // namespace skerry::engine
