#include "worker/cell/isolate_main.h"

#include <unistd.h>

#include <utility>

#include "common/wire/codec.h"
#include "worker/cell/control.h"
#include "worker/cell/fork_start.h"
#include "worker/cell/sandbox.h"

namespace skerry::cell {
namespace {

static_assert(kJobFd == kControlFd);

void SendFinal(IsolatePort& port, const Outcome& outcome) {
  const std::string payload = outcome.error ? wire::DetailPayload(*outcome.error) : std::string();
  port.Send(wire::ToFinal(outcome),
            {outcome.error ? std::string_view(payload) : std::string_view(outcome.value)});
}

/// Whatever answers have come for an earlier job after its end are nobody's.
wire::Dispatch AwaitDispatch(IsolatePort& port, std::vector<std::string>* payloads) {
  for (;;) {
    wire::Header header = port.Receive(payloads);
    if (auto* dispatch = std::get_if<wire::Dispatch>(&header); dispatch != nullptr && payloads->size() == 2)
      return std::move(*dispatch);
    if (!std::holds_alternative<wire::Answer>(header)) _exit(kLockDownFailed);
  }
}

/// In step with Verdict::LeavesIsolateGood.
bool MayTakeAnother(const wire::Dispatch& dispatch, const Outcome& outcome) {
  if (dispatch.job.reuse != Reuse::kContext) return false;
  if (outcome.ok()) return true;
  const Code code = outcome.error->code;
  return code == Code::kCompile || code == Code::kRuntime || code == Code::kValidation;
}

}  // namespace

void RunIsolate(const IsolateWork& work, Mechanisms held, int socket) {
  BeginFork(socket, kJobFd);
  if (LockDownIsolate(held) != 0) _exit(kLockDownFailed);

  work.prepare();
  IsolatePort port(kJobFd);
  std::vector<std::string> payloads;
  for (;;) {
    const wire::Dispatch dispatch = AwaitDispatch(port, &payloads);
    const Outcome outcome = work.body(dispatch, payloads, port);
    SendFinal(port, outcome);
    if (!MayTakeAnother(dispatch, outcome) || !work.renew()) _exit(0);
    wire::Credit ready;
    ready.slots = 1;
    port.Send(ready, {});
  }
}

}  // namespace skerry::cell
