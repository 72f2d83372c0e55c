#include "worker/cell/isolate_port.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/wire/codec.h"

namespace skerry::cell {
namespace {

// The worker has checked every size against the job's limits; this only keeps a broken prefix from asking for
// 4 GiB.
constexpr std::size_t kMaxIncomingBytes = std::size_t{1} << 30;

[[noreturn]] void Leave() {
  _exit(0);
}

void ReadAllOrExit(int socket, char* to, std::size_t count) {
  while (count > 0) {
    const ssize_t got = read(socket, to, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) Leave();
    to += got;
    count -= static_cast<std::size_t>(got);
  }
}

std::string ReadText(int socket, std::size_t count) {
  std::string text(count, '\0');
  ReadAllOrExit(socket, text.data(), count);
  return text;
}

}  // namespace

void WriteAllOrExit(int socket, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) Leave();
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
}

wire::Header IsolatePort::Receive(std::vector<std::string>* payloads) {
  char prefix[wire::kStreamPrefixBytes];
  ReadAllOrExit(socket_, prefix, sizeof(prefix));
  const auto sizes = wire::ParseStreamPrefix(prefix, kMaxIncomingBytes);
  if (!sizes) Leave();
  auto header = wire::Decode(ReadText(socket_, sizes->header));
  payloads->clear();
  for (std::size_t i = 0; i < sizes->payload_count; ++i)
    payloads->push_back(ReadText(socket_, sizes->payload[i]));
  if (!header) Leave();
  return std::move(*header);
}

void IsolatePort::Send(const wire::Header& header, const std::vector<std::string_view>& payloads) {
  const std::string encoded = wire::Encode(header);
  const auto prefix = wire::StreamPrefix(encoded.size(), payloads);
  // One send for what is small, so that the worker wakes once; large payloads go out uncopied.
  constexpr std::size_t kCopyUpTo = 32 * 1024;
  std::string bytes(prefix.data(), prefix.size());
  bytes += encoded;
  for (std::string_view payload : payloads) {
    if (payload.size() <= kCopyUpTo) {
      bytes += payload;
      continue;
    }
    WriteAllOrExit(socket_, bytes.data(), bytes.size());
    bytes.clear();
    WriteAllOrExit(socket_, payload.data(), payload.size());
  }
  WriteAllOrExit(socket_, bytes.data(), bytes.size());
}

void IsolatePort::SendEvent(EventType type, Level level, std::string_view payload, bool truncated) {
  wire::Event event;
  event.type = type;
  event.level = level;
  event.truncated = truncated;
  Send(event, {payload});
}

void IsolatePort::SendDropped(std::uint64_t dropped_events) {
  Send(wire::Dropped{dropped_events}, {});
}

void IsolatePort::SendTripped(LimitId limit) {
  Send(wire::Tripped{std::string(NameOf(limit))}, {});
}

void IsolatePort::SendCall(std::uint32_t call, std::string_view method, std::string_view params) {
  wire::Call message;
  message.call = call;
  Send(message, {method, params});
}

engine::HostAnswer IsolatePort::AwaitAnswer() {
  std::vector<std::string> payloads;
  for (;;) {
    const wire::Header header = Receive(&payloads);
    const auto* answer = std::get_if<wire::Answer>(&header);
    if (answer == nullptr) continue;
    engine::HostAnswer result;
    result.call = answer->call;
    result.kind = static_cast<engine::HostAnswer::Kind>(answer->kind);
    if (!payloads.empty()) result.text = std::move(payloads[0]);
    return result;
  }
}

}  // namespace skerry::cell
