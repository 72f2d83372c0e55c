#include "worker/cell/isolate_main.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "common/wire/codec.h"
#include "worker/cell/control.h"
#include "worker/cell/isolate_port.h"
#include "worker/cell/sandbox.h"

namespace skerry::cell {
namespace {

// Where an isolate finds its socket: the control socket's number, which it must not keep anyway.
constexpr int kJobFd = kControlFd;
// Not a signal's and not 0: the worker sees an exit without a final.
constexpr int kLockDownFailed = 120;

// Filled in the template, so that writing it needs no memory.
char out_of_memory_record[512];
std::size_t out_of_memory_record_bytes = 0;

[[noreturn]] void ReportOutOfMemory() {
  WriteAllOrExit(kJobFd, out_of_memory_record, out_of_memory_record_bytes);
  _exit(0);
}

engine::Program ToProgram(const wire::Dispatch& dispatch, const std::vector<std::string>& payloads) {
  engine::Program program;
  program.mode = dispatch.job.mode;
  program.code = payloads[0];
  program.input = payloads[1];
  program.seed = dispatch.seed;
  program.wasm = dispatch.job.wasm;
  for (const auto& [name, value] : dispatch.job.limits) {
    if (const auto id = LimitByName(name)) program.limits.Set(*id, value);
  }
  return program;
}

void SendFinal(IsolatePort& port, const Outcome& outcome) {
  const std::string payload = outcome.error ? wire::DetailPayload(*outcome.error) : std::string();
  port.Send(wire::ToFinal(outcome),
            {outcome.error ? std::string_view(payload) : std::string_view(outcome.value)});
}

}  // namespace

void PrepareOutOfMemoryRecord() {
  Outcome outcome;
  outcome.error = MakeError(Code::kOom, "the program used more memory than memoryMb allows", "memoryMb");
  const std::string bytes = wire::StreamBytes(wire::ToFinal(outcome), {wire::DetailPayload(*outcome.error)});
  if (bytes.size() > sizeof(out_of_memory_record)) _exit(kLockDownFailed);
  bytes.copy(out_of_memory_record, bytes.size());
  out_of_memory_record_bytes = bytes.size();
}

void RunIsolate(engine::Engine& engine, int socket) {
  if (dup2(socket, kJobFd) < 0 || close_range(kJobFd + 1, ~0u, 0) != 0) _exit(kLockDownFailed);
  // Cleared by the fork. A worker that died in between is noticed at the read, as EOF.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (LockDownIsolate() != 0) _exit(kLockDownFailed);

  IsolatePort port(kJobFd);
  std::vector<std::string> payloads;
  const wire::Header header = port.Receive(&payloads);
  const auto* dispatch = std::get_if<wire::Dispatch>(&header);
  if (dispatch == nullptr || payloads.size() != 2) _exit(kLockDownFailed);
  engine::SetOutOfMemoryHandler(&ReportOutOfMemory);
  SendFinal(port, engine.Run(ToProgram(*dispatch, payloads), port));
  _exit(0);
}

}  // namespace skerry::cell
