#include "worker/cell/control.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

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

int SendControl(int socket, ControlByte byte, int fd, std::uint32_t number) {
  Fields fields{byte, number};
  iovec data{&fields, sizeof(fields)};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
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
  iovec data{&fields, sizeof(fields)};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  FdBuffer buffer;
  message.msg_control = buffer.bytes;
  message.msg_controllen = sizeof(buffer.bytes);
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno;
  if (got == 0) return EPIPE;
  packet->fd.Reset();
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(int));
    packet->fd = Fd(fd);
  }
  if (got != sizeof(fields)) return EPROTO;
  packet->byte = fields.byte;
  packet->number = fields.number;
  return 0;
}

}  // namespace skerry::cell
