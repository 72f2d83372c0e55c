// What a verdict's tests feed it, exits and finals, and how they read what it says.
//
// Threads: plain data. Errors: none.
#pragma once

#include <string>
#include <utility>

#include "common/outcome.h"
#include "common/wire/messages.h"
#include "worker/agent/jobs/verdict.h"
#include "worker/agent/process.h"

namespace skerry::agent {

inline ExitStatus Exit(int code) {
  ExitStatus status;
  status.code = code;
  return status;
}
inline ExitStatus Signal(int signal) {
  ExitStatus status;
  status.signal = signal;
  return status;
}

inline wire::Final OkFinal() {
  wire::Final final;
  final.ok = true;
  return final;
}
inline wire::Final ErrorFinal(Code code, std::string limit = {}) {
  Outcome outcome;
  outcome.error = MakeError(code, "said so", std::move(limit));
  return wire::ToFinal(outcome);
}
inline std::string Detail(Code code) {
  return wire::DetailPayload(MakeError(code, "said so"));
}

/// "CODE:limit", or "ok".
inline std::string Text(const Decision& decision) {
  return decision.outcome.error
             ? std::string(NameOf(decision.outcome.error->code)) + ":" + decision.outcome.error->limit
             : "ok";
}

}  // namespace skerry::agent
