// The control protocol between a worker and its cell: one packet of a byte, a number, a short text and
// perhaps a descriptor (SCM_RIGHTS) on a SOCK_SEQPACKET pair. Both sides are ours; the cell runs no tenant
// code, but the worker still takes nothing else from it.
//
//   worker -> cell   kHome   once, first; the number is the Mechanisms of its namespaces
//                    kFork   + the isolate's end of its socket
//   cell -> worker   kReady  once, warm and sandboxed; the number is its Mechanisms, the text V8's version,
//                            a space, and V8's flags; + the listener for forbidden system calls, if there is
//                            one
//                    kForked + the isolate's pidfd, in the order of the requests
//                    kFailed: that fork failed; the number is the errno
//
// Errors: as errno; nothing here allocates or throws, since the cell calls it between forks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/fd.h"

namespace skerry::cell {

enum class ControlByte : char { kHome = 'H', kFork = 'F', kReady = 'R', kForked = 'K', kFailed = 'E' };

/// The descriptor on which a cell finds its control socket.
inline constexpr int kControlFd = 3;

/// The longest text of a packet.
inline constexpr std::size_t kMaxControlText = 511;

/// Sends one packet; `text` is cut to kMaxControlText; `fd` of -1 sends none. Returns 0 or an errno.
int SendControl(int socket, ControlByte byte, int fd, std::uint32_t number = 0, std::string_view text = {});

struct ControlPacket {
  ControlByte byte = ControlByte::kFailed;
  std::uint32_t number = 0;
  Fd fd;
  std::array<char, kMaxControlText> buffer{};
  std::size_t text_size = 0;

  std::string_view text() const { return {buffer.data(), text_size}; }
};
/// Receives one packet. Returns 0, EPIPE at the peer's end, EAGAIN where non-blocking, EPROTO for one of the
/// wrong size, or another errno.
int ReceiveControl(int socket, ControlPacket* packet);

}  // namespace skerry::cell
