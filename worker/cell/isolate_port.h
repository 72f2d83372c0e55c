// The isolate's end of its socket: blocking, single-threaded, bounded by what the worker sends.
//
// Ownership: does not own the descriptor. Errors: when the worker is gone the process exits at once,
// silently: nobody is left to be told, and an isolate must not outlive its worker.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/wire/messages.h"
#include "common/wire/stream.h"
#include "worker/engine/job_port.h"

namespace skerry::cell {

class IsolatePort final : public engine::JobPort {
 public:
  explicit IsolatePort(int socket) : socket_(socket) {}

  /// Waits for a whole message; exits at EOF and at anything malformed, which only a broken worker sends.
  wire::Header Receive(std::vector<std::string>* payloads);
  void Send(const wire::Header& header, const std::vector<std::string_view>& payloads);

  void SendEvent(EventType type, Level level, std::string_view payload, bool truncated) override;
  void SendDropped(std::uint64_t dropped_events) override;
  void SendTripped(LimitId limit) override;
  void SendCall(std::uint32_t call, std::string_view method, std::string_view params) override;
  engine::HostAnswer AwaitAnswer() override;

 private:
  int socket_;
};

/// Writes all of `bytes` or exits. Allocates nothing: the out-of-memory path uses it too.
void WriteAllOrExit(int socket, const char* bytes, std::size_t count);

}  // namespace skerry::cell
