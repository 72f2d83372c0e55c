// The control protocol between a worker and its cells: one packet of a byte, a number, a short text and
// perhaps a descriptor (SCM_RIGHTS) on a SOCK_SEQPACKET pair. Both sides are ours, but a cell that has
// evaluated a program is as hostile as that: the worker takes nothing else from any cell, and looks at what
// it takes.
//
//   worker -> cell   kHome   once, first; the number is the Mechanisms of its namespaces
//                    kFork   + the isolate's end of its socket
//                    kCell   + the end of the control socket of a cell that is forked from this one
//                    kRecipe to such a cell, once, first: + a memfd; the number is how many bytes are in it
//                    (recipe_codec.h)
//   cell -> worker   kReady  once, warm and sandboxed; the number is its Mechanisms, the text V8's version,
//                            a space, and V8's flags; + the listener for forbidden system calls, if there is
//                            one. Of a cell that was forked: bare, its recipe is done
//                    kForked + the pidfd of an isolate, or of a cell, in the order of the requests
//                    kFailed: that fork failed; the number is the errno
//                    kRefused, of a cell that was forked: its recipe cannot be done. The number is an
//                            engine::Unkeepable of its program; of a library the text says more
//
// Errors: as errno; nothing here allocates or throws, since the cell calls it between forks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/fd.h"

namespace skerry::cell {

enum class ControlByte : char {
  kHome = 'H',
  kFork = 'F',
  kCell = 'C',
  kRecipe = 'P',
  kReady = 'R',
  kForked = 'K',
  kFailed = 'E',
  kRefused = 'N',
};

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
