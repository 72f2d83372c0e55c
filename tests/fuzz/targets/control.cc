// cell::ReceiveControl: packets between a worker and its cell, whatever they carry.
//
// Input: packets, each a byte (its low 3 bits: how many descriptors come with it) and a Script::ShortText.
#include "worker/cell/control.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/fd.h"
#include "tests/fuzz/targets/target.h"
#include "worker/cell/sandbox_report.h"

namespace {

using skerry::Fd;
using skerry::fuzz::Demand;
namespace cell = skerry::cell;

constexpr std::size_t kMostDescriptors = 7;

/// The lowest free descriptor: the same after a packet as before it, unless one was left open.
int LowestFree() {
  const Fd probe(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  return probe.get();
}

bool SendPacket(int socket, const std::string& bytes, std::size_t descriptors) {
  std::string data = bytes;
  iovec part{data.data(), data.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> buffer{};
  if (descriptors > 0) {
    message.msg_control = buffer.data();
    message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
    std::array<int, kMostDescriptors> fds{};
    fds.fill(STDERR_FILENO);
    std::memcpy(CMSG_DATA(header), fds.data(), descriptors * sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

void CheckPacket(int socket, std::size_t descriptors, const std::string& sent) {
  cell::ControlPacket packet;
  const int error = cell::ReceiveControl(socket, &packet);
  if (sent.size() < 5) {
    // An empty packet looks like the peer's end.
    Demand(error == (sent.empty() ? EPIPE : EPROTO), "a packet that is too short is refused");
    return;
  }
  Demand(error == 0, "a packet is read");
  Demand(packet.text_size <= cell::kMaxControlText, "a text is within its bound");
  Demand(packet.text() == sent.substr(5, cell::kMaxControlText), "a text is what was sent");
  Demand(static_cast<char>(packet.byte) == sent[0], "a byte is what was sent");
  Demand(packet.fd.valid() == (descriptors > 0), "the first descriptor arrives");
  const cell::Mechanisms mechanisms(packet.number);
  Demand((mechanisms.bits() >> cell::kMechanismCount) == 0, "only known mechanisms are believed");
  Demand(!cell::Describe(mechanisms).empty(), "whatever is claimed can be described");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()) != 0) return 0;
  const Fd sender(pair[0]);
  const Fd receiver(pair[1]);
  const int lowest = LowestFree();
  skerry::fuzz::Script script(data, size);
  while (!script.AtEnd()) {
    const std::size_t descriptors = script.Below(kMostDescriptors + 1);
    const std::string bytes = script.ShortText();
    if (!SendPacket(sender.get(), bytes, descriptors)) return 0;
    CheckPacket(receiver.get(), descriptors, bytes);
    Demand(LowestFree() == lowest, "no descriptor is left open");
  }
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  const auto packet = [](char descriptors, const std::string& bytes) {
    return std::string{descriptors, static_cast<char>(bytes.size())} + bytes;
  };
  const std::string forked("K\0\0\0\0", 5);
  const std::string ready(
      "R\xff\x7f\0\0"
      "14.6.202.34-node.40",
      24);
  const std::string failed("E\x0b\0\0\0", 5);
  return {packet(1, forked),
          packet(1, ready),
          packet(0, failed) + packet(0, "K") + packet(0, ""),
          packet(2, ""),
          packet(2, "K"),
          packet(7, forked + std::string(250, 'x')),
          packet(2, forked) + packet(1, ready)};
}
