#include "worker/agent/isolates/isolate_exit.h"

#include <signal.h>

namespace skerry::agent {
namespace {

IsolateExit KilledFor(Cause cause) {
  switch (cause) {
    case Cause::kWallClock:
      return IsolateExit::kKilledTimeout;
    case Cause::kCpuClock:
      return IsolateExit::kKilledCpu;
    case Cause::kMemory:
      return IsolateExit::kKilledMemory;
    case Cause::kCancelled:
      return IsolateExit::kKilledCancelled;
    case Cause::kProtocolBroken:
      return IsolateExit::kKilledProtocol;
    case Cause::kAborted:
      return IsolateExit::kKilledStopped;
    case Cause::kForbiddenCall:
      return IsolateExit::kSys;
    case Cause::kHandOver:
      break;
  }
  return IsolateExit::kKilledHandOver;
}

IsolateExit DiedOf(int signal) {
  switch (signal) {
    case SIGSEGV:
      return IsolateExit::kSegv;
    case SIGBUS:
      return IsolateExit::kBus;
    case SIGILL:
      return IsolateExit::kIll;
    case SIGTRAP:
      return IsolateExit::kTrap;
    case SIGFPE:
      return IsolateExit::kFpe;
    case SIGABRT:
      return IsolateExit::kAbrt;
    case SIGSYS:
      return IsolateExit::kSys;
    case SIGKILL:
      return IsolateExit::kForeignKill;
    default:
      return IsolateExit::kOtherSignal;
  }
}

}  // namespace

IsolateExit ExitOf(const Verdict& verdict, const ExitStatus& status) {
  if (const auto cause = verdict.cause()) return KilledFor(*cause);
  // Killed after its final because it did not leave in time: it had finished all the same.
  if (verdict.has_final()) return IsolateExit::kFinished;
  if (status.signal == SIGKILL && verdict.evidence() != MemoryEvidence::kNo) return IsolateExit::kOomKill;
  return status.signal == 0 ? IsolateExit::kExited : DiedOf(status.signal);
}

}  // namespace skerry::agent
