#include "worker/cell/control.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace skerry::cell {
namespace {

class Control : public ::testing::Test {
 protected:
  Control() {
    std::array<int, 2> pair{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()), 0);
    theirs_ = Fd(pair[0]);
    ours_ = Fd(pair[1]);
  }

  /// A packet of these bytes with two descriptors, which is one more than any packet has.
  void SendWithDescriptors(std::string bytes) {
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> buffer{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = buffer.data();
    message.msg_controllen = buffer.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    const std::array<int, 2> fds = {STDERR_FILENO, STDERR_FILENO};
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
    ASSERT_GE(sendmsg(theirs_.get(), &message, 0), 0);
  }
  /// The number that the next descriptor would get.
  static int NextDescriptor() { return Fd(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)).get(); }

  Fd theirs_;
  Fd ours_;
};

TEST_F(Control, APacketArrivesWithItsNumberTextAndDescriptor) {
  ASSERT_EQ(SendControl(theirs_.get(), ControlByte::kReady, STDERR_FILENO, 7, "14.6"), 0);
  ControlPacket packet;
  ASSERT_EQ(ReceiveControl(ours_.get(), &packet), 0);
  EXPECT_EQ(packet.byte, ControlByte::kReady);
  EXPECT_EQ(packet.number, 7u);
  EXPECT_EQ(packet.text(), "14.6");
  EXPECT_TRUE(packet.fd.valid());
}

TEST_F(Control, ATextOfTheLongestLengthPassesAndOneByteMoreIsCut) {
  for (const std::size_t size : {kMaxControlText, kMaxControlText + 1}) {
    ASSERT_EQ(SendControl(theirs_.get(), ControlByte::kReady, -1, 0, std::string(size, 'x')), 0);
    ControlPacket packet;
    ASSERT_EQ(ReceiveControl(ours_.get(), &packet), 0);
    EXPECT_EQ(packet.text(), std::string(kMaxControlText, 'x'));
  }
}

TEST_F(Control, NoDescriptorOfAWrongPacketStaysOpen) {
  const int next = NextDescriptor();
  for (const std::string& bytes : {std::string(), std::string("K"), std::string("K\0\0\0\0", 5)}) {
    SendWithDescriptors(bytes);
    {
      ControlPacket packet;
      EXPECT_EQ(ReceiveControl(ours_.get(), &packet), bytes.empty() ? EPIPE : bytes.size() < 5 ? EPROTO : 0);
    }
    EXPECT_EQ(NextDescriptor(), next) << bytes.size() << " bytes";
  }
}

}  // namespace
}  // namespace skerry::cell
