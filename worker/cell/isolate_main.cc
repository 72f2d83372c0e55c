#include "worker/cell/isolate_main.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/wire/codec.h"
#include "worker/cell/control.h"
#include "worker/cell/sandbox.h"

namespace skerry::cell {
namespace {

static_assert(kJobFd == kControlFd);
// Not a signal's and not 0: the worker sees an exit without a final.
constexpr int kLockDownFailed = 120;

void SendFinal(IsolatePort& port, const Outcome& outcome) {
  const std::string payload = outcome.error ? wire::DetailPayload(*outcome.error) : std::string();
  port.Send(wire::ToFinal(outcome),
            {outcome.error ? std::string_view(payload) : std::string_view(outcome.value)});
}

}  // namespace

void RunIsolate(const IsolateWork& work, Mechanisms held, int socket) {
  if (dup2(socket, kJobFd) < 0 || close_range(kJobFd + 1, ~0u, 0) != 0) _exit(kLockDownFailed);
  // Cleared by the fork. A worker that died in between is noticed at the read, as EOF.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (LockDownIsolate(held) != 0) _exit(kLockDownFailed);

  work.prepare();
  IsolatePort port(kJobFd);
  std::vector<std::string> payloads;
  const wire::Header header = port.Receive(&payloads);
  const auto* dispatch = std::get_if<wire::Dispatch>(&header);
  if (dispatch == nullptr || payloads.size() != 2) _exit(kLockDownFailed);
  SendFinal(port, work.body(*dispatch, payloads, port));
  _exit(0);
}

}  // namespace skerry::cell
