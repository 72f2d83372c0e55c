#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "common/fd.h"
#include "tests/hostile/compromised/probe.h"
#include "worker/cell/control.h"
#include "worker/cell/syscall_filter.h"

namespace skerry::compromised {
namespace {

using cell::ControlByte;
using cell::kControlFd;

[[noreturn]] void SleepForEver() {
  const timespec an_hour{3600, 0};
  for (;;) nanosleep(&an_hour, nullptr);
}

void SayReady() {
  SendControl(kControlFd, ControlByte::kReady, -1);
}

/// The isolate's end of the socket that comes with a request.
Fd AwaitRequest() {
  cell::ControlPacket packet;
  while (ReceiveControl(kControlFd, &packet) == 0) {
    if (packet.byte == ControlByte::kFork && packet.fd.valid()) return std::move(packet.fd);
  }
  _exit(0);
}

/// The one clone that there is; the child lives on and does nothing. Returns its pidfd.
int Clone(std::uint64_t flags = cell::kReportedForkFlags) {
  int pidfd = -1;
  if (syscall(SYS_clone, flags, nullptr, &pidfd, nullptr, nullptr) == 0) SleepForEver();
  return pidfd;
}

void CloneUnasked() {
  SayReady();
  Clone();
}
void CloneAsTheBaseCell() {
  Clone(cell::kForkFlags);
}
void CloneWithHighBits() {
  Clone(cell::kReportedForkFlags | std::uint64_t{1} << 32);
}
void CloneAThreadReported() {
  Clone(cell::kReportedForkFlags | CLONE_VM);
}
void CloneTwiceForOneRequest() {
  SayReady();
  const Fd socket = AwaitRequest();
  SendControl(kControlFd, ControlByte::kForked, Clone());
  Clone();
}
void CloneAndNeverTell() {
  SayReady();
  const Fd socket = AwaitRequest();
  Clone();
}
void TellOfNoProcess() {
  SayReady();
  const Fd socket = AwaitRequest();
  SendControl(kControlFd, ControlByte::kForked, socket.get());
}
void TellOfNothing() {
  SayReady();
  const Fd socket = AwaitRequest();
  SendControl(kControlFd, ControlByte::kForked, -1);
}
void TellOfTheSameTwice() {
  SayReady();
  const Fd first = AwaitRequest();
  const int pidfd = Clone();
  SendControl(kControlFd, ControlByte::kForked, pidfd);
  const Fd second = AwaitRequest();
  SendControl(kControlFd, ControlByte::kForked, pidfd);
}
void TellUnasked() {
  SayReady();
  SendControl(kControlFd, ControlByte::kForked, 0);
}
void TellBeforeItIsReady() {
  SendControl(kControlFd, ControlByte::kForked, 0);
}
void SayReadyTwice() {
  SayReady();
  SayReady();
}
void SayReadyWithADescriptor() {
  SendControl(kControlFd, ControlByte::kReady, 0);
}
void RefuseWithWordsOfItsOwn() {
  SendControl(kControlFd, ControlByte::kRefused, -1, 0xffffffff, "words of the program's");
}
void Flood() {
  SayReady();
  const Fd socket = AwaitRequest();
  while (SendControl(kControlFd, ControlByte::kForked, socket.get()) != EPIPE) {
  }
}
void SendManyDescriptors() {
  alignas(cmsghdr) char buffer[CMSG_SPACE(200 * sizeof(int))] = {};
  char bytes[5] = {'R'};
  iovec data{bytes, sizeof bytes};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = buffer;
  message.msg_controllen = sizeof buffer;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(200 * sizeof(int));
  std::memset(CMSG_DATA(header), 0, 200 * sizeof(int));  // two hundred times the same
  sendmsg(kControlFd, &message, MSG_NOSIGNAL);
}
void SendGarbage() {
  send(kControlFd, "x", 1, MSG_NOSIGNAL);
}
void CloseItsSocket() {
  close(kControlFd);
}
void TakeASocketFromElsewhere() {
  msghdr message{};
  recvmsg(0, &message, MSG_DONTWAIT);
}
void MoveADescriptor() {
  dup2(0, 9);
}
void KillASibling() {
  syscall(SYS_tgkill, 2, 2, SIGKILL);
}
void LeaveItsGroup() {
  setpgid(0, 1);
}
void SayNothing() {}

}  // namespace

const std::vector<Trick>& Tricks() {
  static const std::vector<Trick> kTricks = {
      {"clone-unasked", CloneUnasked},
      {"clone-as-the-base-cell", CloneAsTheBaseCell},
      {"clone-with-high-bits", CloneWithHighBits},
      {"clone-a-thread", CloneAThreadReported},
      {"clone-twice", CloneTwiceForOneRequest},
      {"clone-and-never-tell", CloneAndNeverTell},
      {"tell-of-no-process", TellOfNoProcess},
      {"tell-of-nothing", TellOfNothing},
      {"tell-of-the-same-twice", TellOfTheSameTwice},
      {"tell-unasked", TellUnasked},
      {"tell-before-ready", TellBeforeItIsReady},
      {"ready-twice", SayReadyTwice},
      {"ready-with-a-descriptor", SayReadyWithADescriptor},
      {"refuse-in-its-own-words", RefuseWithWordsOfItsOwn},
      {"flood", Flood},
      {"many-descriptors", SendManyDescriptors},
      {"garbage", SendGarbage},
      {"close-its-socket", CloseItsSocket},
      {"another-socket", TakeASocketFromElsewhere},
      {"move-a-descriptor", MoveADescriptor},
      {"kill-a-sibling", KillASibling},
      {"leave-its-group", LeaveItsGroup},
      {"nothing", SayNothing},
  };
  return kTricks;
}

std::string PlayInCell(const std::string& name) {
  for (const Trick& trick : Tricks()) {
    if (trick.name != name) continue;
    trick.play();
    SleepForEver();
  }
  for (const Attempt& attempt : Attempts()) {
    if (attempt.name == name) return attempt.make({});
  }
  return "unknown probe";
}

}  // namespace skerry::compromised
