// The control protocol between a worker and its cell: one byte per packet on a SOCK_SEQPACKET pair (behind
// kReady a short text), descriptors by SCM_RIGHTS. Both sides are ours; the cell runs no tenant code, but the
// worker still takes nothing else from it.
//
//   worker -> cell   kFork   + the isolate's end of its socket
//   cell -> worker   kReady  once, warm and sandboxed; with V8's version
//                    kForked + the isolate's pidfd, in the order of the requests
//                    kFailed: that fork failed
//
// Errors: as errno; nothing here allocates or throws, since the cell calls it between forks.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "common/fd.h"

namespace skerry::cell {

enum class ControlByte : char { kFork = 'F', kReady = 'R', kForked = 'K', kFailed = 'E' };

/// The descriptor on which a cell finds its control socket.
inline constexpr int kControlFd = 3;

/// The longest text of a packet.
inline constexpr std::size_t kMaxControlText = 63;

/// Sends one packet; `text` is cut to kMaxControlText; `fd` of -1 sends none. Returns 0 or an errno.
int SendControl(int socket, ControlByte byte, int fd, std::string_view text = {});

struct ControlPacket {
  ControlByte byte = ControlByte::kFailed;
  Fd fd;
  std::array<char, kMaxControlText> buffer{};
  std::size_t text_size = 0;

  std::string_view text() const { return {buffer.data(), text_size}; }
};
/// Receives one packet. Returns 0, EPIPE at the peer's end, EAGAIN where non-blocking, or another errno.
int ReceiveControl(int socket, ControlPacket* packet);

}  // namespace skerry::cell
