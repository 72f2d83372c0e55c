// skerry-fuzz-cell: a cell program without V8 that plays a hostile isolate, or is a hostile cell itself.
#include "tests/fuzz/fuzz_cell.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "common/fd.h"
#include "common/wire/codec.h"
#include "common/wire/stream.h"
#include "tests/fuzz/mutator.h"
#include "worker/cell/control.h"

namespace skerry::fuzz {
namespace {

using cell::ControlByte;
using cell::kControlFd;

constexpr int kBroken = 9;
// Control packets of one breach: the worker acts on the first, the rest finds it in the middle of that.
constexpr std::size_t kPackets = 3;

void WriteOrExit(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) _exit(0);  // the worker has had enough
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

wire::Frame ReadOrExit(int socket) {
  wire::FrameReader reader(1u << 26);
  char bytes[65536];
  for (;;) {
    auto frame = reader.Next();
    if (!frame) _exit(kBroken);
    if (*frame) return std::move(**frame);
    const ssize_t got = read(socket, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) _exit(0);
    reader.Append({bytes, static_cast<std::size_t>(got)});
  }
}

// Whether the worker can go on reading behind it: a whole message that an isolate may send and that does not
// end the job.
bool LeavesTheJobRunning(const std::string& bytes) {
  wire::FrameReader reader(1u << 20);
  reader.Append(bytes);
  const auto frame = reader.Next();
  if (!frame || !*frame || reader.buffered() != 0) return false;
  const auto header = wire::Decode((*frame)->header);
  return header &&
         (std::holds_alternative<wire::Event>(*header) || std::holds_alternative<wire::Dropped>(*header) ||
          std::holds_alternative<wire::Call>(*header));
}

// The worker looks at nothing behind the first breach, so what is no breach by itself goes first.
void SendMutations(int socket, const Samples& samples, std::istringstream& plan) {
  std::string type;
  std::uint64_t seed = 0;
  std::size_t count = 0;
  plan >> type >> seed >> count;
  const Samples of_type = OfType(samples, type);
  if (of_type.empty()) _exit(kBroken);
  Mutator mutator(samples, seed);
  std::vector<std::string> messages;
  for (std::size_t i = 0; i < count; ++i)
    messages.push_back(mutator.MutateStream(of_type[i % of_type.size()].frames));
  std::stable_partition(messages.begin(), messages.end(), LeavesTheJobRunning);
  for (const std::string& message : messages) WriteOrExit(socket, message);
}

[[noreturn]] void PlayIsolate(int socket, const Samples& samples) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const wire::Frame job = ReadOrExit(socket);
  if (job.payloads.size() != 2) _exit(kBroken);
  std::istringstream plan(job.payloads[0]);
  std::string verb;
  plan >> verb;
  if (verb == "fuzz") {
    SendMutations(socket, samples, plan);
  } else {
    wire::Final final;
    final.ok = true;
    WriteOrExit(socket, wire::StreamBytes(final, {job.payloads[1]}));
  }
  _exit(0);
}

void ForkIsolate(Fd socket, const Samples& samples) {
  int pidfd = -1;
  const long pid =
      syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr);
  if (pid == 0) {
    close(kControlFd);
    PlayIsolate(socket.get(), samples);
  }
  const Fd owned(pidfd);
  int error = 0;
  while ((error = SendControl(kControlFd, ControlByte::kForked, owned.get())) == ETOOMANYREFS) usleep(1000);
  if (error != 0) _exit(0);
}

// Descriptors of every kind, most of which are no process.
Fd AnyDescriptor(Random& random) {
  switch (random.Below(6)) {
    case 0:
      return Fd(open("/dev/null", O_RDWR | O_CLOEXEC));
    case 1:
      return Fd(eventfd(1, EFD_CLOEXEC));
    case 2:
      return Fd(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    case 3:
      return Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    case 4:
      return Fd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));  // not the worker's child
    default:
      return Fd(dup(kControlFd));
  }
}

// One packet with up to three descriptors: mostly of the size that a byte and a number have, else any.
void SendPacket(Random& random) {
  constexpr std::string_view kKnown = "HFCPRKEN";
  constexpr std::size_t kWhole = 1 + sizeof(std::uint32_t);
  std::string bytes = random.Bytes(random.OneIn(4) ? 1 + random.Below(80) : kWhole + random.Below(2));
  if (!random.OneIn(3)) bytes[0] = kKnown[random.Below(kKnown.size())];
  std::vector<Fd> held;
  for (std::size_t i = 0, count = random.Below(4); i < count; ++i) held.push_back(AnyDescriptor(random));
  alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
  iovec data{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!held.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(held.size() * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(held.size() * sizeof(int));
    for (std::size_t i = 0; i < held.size(); ++i) {
      const int fd = held[i].get();
      std::copy_n(reinterpret_cast<const char*>(&fd), sizeof fd,
                  reinterpret_cast<char*>(CMSG_DATA(header)) + i * sizeof fd);
    }
  }
  (void)!sendmsg(kControlFd, &message, MSG_NOSIGNAL);
}

// Serves some forks well, then breaks the protocol; sometimes it dies of it, sometimes it stays silent. A bad
// start would cost a worker its start timeout.
enum class Start : std::uint8_t { kWell, kAnyhow };
void ServeBadly(std::uint64_t seed, Start start, const Samples& samples) {
  Random random(seed);
  if (start == Start::kAnyhow && random.OneIn(6)) SendPacket(random);
  if (start == Start::kWell || !random.OneIn(6)) SendControl(kControlFd, ControlByte::kReady, -1);
  for (std::size_t good = random.Below(4); good > 0; --good) {
    cell::ControlPacket packet;
    if (ReceiveControl(kControlFd, &packet) != 0) return;
    if (packet.fd.valid()) ForkIsolate(std::move(packet.fd), samples);
  }
  for (std::size_t i = 0; i < kPackets; ++i) SendPacket(random);
  if (random.OneIn(2)) return;
  cell::ControlPacket packet;
  while (ReceiveControl(kControlFd, &packet) == 0) {
  }
}

void Serve(const Samples& samples) {
  SendControl(kControlFd, ControlByte::kReady, -1);
  for (;;) {
    cell::ControlPacket packet;
    if (ReceiveControl(kControlFd, &packet) != 0) return;
    if (packet.byte == ControlByte::kFork && packet.fd.valid()) ForkIsolate(std::move(packet.fd), samples);
  }
}

/// The seed in the file, which is counted up.
std::optional<std::uint64_t> SeedFrom(const std::string& path) {
  std::uint64_t seed = 0;
  if (!(std::ifstream(path) >> seed)) return std::nullopt;
  std::ofstream(path) << seed + 1;
  return seed;
}

int Main(int argc, char** argv) {
  if (argc < 2) return kBroken;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Samples samples = LoadSamples();
  const std::string_view mode = argv[1];
  if (mode.starts_with(kControlMode)) {
    const char* seed = argv[1] + std::string_view(kControlMode).size();
    ServeBadly(std::strtoull(seed, nullptr, 10), Start::kAnyhow, samples);
  } else if (const auto seed = SeedFrom(argv[0] + std::string(kSeedFile))) {
    ServeBadly(*seed, Start::kWell, samples);
  } else {
    Serve(samples);
  }
  return 0;
}

}  // namespace
}  // namespace skerry::fuzz

int main(int argc, char** argv) {
  return skerry::fuzz::Main(argc, argv);
}
