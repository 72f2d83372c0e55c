#include "worker/cell/control.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

namespace skerry::cell {
namespace {

// Byte and number, as they lie on the socket.
struct __attribute__((packed)) Fields {
  ControlByte byte = ControlByte::kFailed;
  std::uint32_t number = 0;
};

struct alignas(cmsghdr) FdBuffer {
  char bytes[CMSG_SPACE(sizeof(int))] = {};
};

}  // namespace

int SendControl(int socket, ControlByte byte, int fd, std::uint32_t number, std::string_view text) {
  Fields fields{byte, number};
  iovec data[] = {{&fields, sizeof(fields)},
                  {const_cast<char*>(text.data()), std::min(text.size(), kMaxControlText)}};
  msghdr message{};
  message.msg_iov = data;
  message.msg_iovlen = std::size(data);
  FdBuffer buffer;
  if (fd >= 0) {
    message.msg_control = buffer.bytes;
    message.msg_controllen = sizeof(buffer.bytes);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof(int));
  }
  for (;;) {
    if (sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

int ReceiveControl(int socket, ControlPacket* packet) {
  Fields fields;
  iovec data[] = {{&fields, sizeof(fields)}, {packet->buffer.data(), packet->buffer.size()}};
  msghdr message{};
  message.msg_iov = data;
  message.msg_iovlen = std::size(data);
  FdBuffer buffer;
  message.msg_control = buffer.bytes;
  message.msg_controllen = sizeof(buffer.bytes);
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno;
  packet->fd.Reset();
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    // Alignment leaves room for a second one, and the kernel fills it: whatever comes must be closed.
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      Fd received(fd);
      if (i == 0) packet->fd = std::move(received);
    }
  }
  // Behind the descriptors: a packet without a byte may bring some, too.
  if (got == 0) return EPIPE;
  if (got < static_cast<ssize_t>(sizeof(fields))) return EPROTO;
  packet->text_size = static_cast<std::size_t>(got) - sizeof(fields);
  packet->byte = fields.byte;
  packet->number = fields.number;
  return 0;
}

}  // namespace skerry::cell
