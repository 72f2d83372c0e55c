#include "worker/agent/isolates/isolate.h"

namespace skerry::agent {

Isolate::~Isolate() {
  if (reaped_ || !process_.pidfd.valid()) return;
  KillProcess(process_.pidfd.get());
  ReapBlocking(process_.pidfd.get());
}

void Isolate::Kill() const {
  KillProcess(process_.pidfd.get());
}

std::optional<ExitStatus> Isolate::TryReap() {
  auto status = agent::TryReap(process_.pidfd.get());
  reaped_ = status.has_value();
  return status;
}

}  // namespace skerry::agent
