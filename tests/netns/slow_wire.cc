#include "tests/netns/slow_wire.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <random>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace skerry::testing {
namespace {

using std::chrono::steady_clock;

// A frame that was left to be cut up, and the kernel's note on it.
constexpr std::size_t kLargestFrame = 72u << 10;
// What a slow wire holds: past it frames are lost, as in a full queue.
constexpr std::size_t kMostUnderWay = 4'096;
constexpr int kBufferBytes = 8 << 20;

void Set(const Fd& fd, int level, int option, int value) {
  if (setsockopt(fd.get(), level, option, &value, sizeof(value)) != 0)
    throw std::system_error(errno, std::generic_category(), "a packet socket's option");
}

/// Everything that arrives at an interface of this namespace, and nothing that leaves it.
Fd Listen(const std::string& interface) {
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0) throw std::runtime_error("there is no interface " + interface);
  // Without a protocol until it is bound: else it would hear all interfaces.
  Fd fd(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) throw std::system_error(errno, std::generic_category(), "a packet socket");
  Set(fd, SOL_PACKET, PACKET_VNET_HDR, 1);
  Set(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
  Set(fd, SOL_SOCKET, SO_RCVBUFFORCE, kBufferBytes);
  Set(fd, SOL_SOCKET, SO_SNDBUFFORCE, kBufferBytes);
  packet_mreq all{};
  all.mr_ifindex = static_cast<int>(index);
  all.mr_type = PACKET_MR_PROMISC;
  sockaddr_ll here{};
  here.sll_family = AF_PACKET;
  here.sll_protocol = htons(ETH_P_ALL);
  here.sll_ifindex = static_cast<int>(index);
  if (setsockopt(fd.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) != 0 ||
      bind(fd.get(), reinterpret_cast<sockaddr*>(&here), sizeof(here)) != 0)
    throw std::system_error(errno, std::generic_category(), "listening on " + interface);
  return fd;
}

struct Frame {
  steady_clock::time_point due;
  int to;
  std::vector<char> bytes;
};

}  // namespace

SlowWire::SlowWire(const std::string& one, const std::string& other, WireManners manners)
    : manners_(manners),
      one_(Listen(one)),
      other_(Listen(other)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Work(); }) {}

SlowWire::~SlowWire() {
  const std::uint64_t now = 1;
  (void)!write(stop_.get(), &now, sizeof(now));
  thread_.join();
}

void SlowWire::Work() {
  std::mt19937_64 random(manners_.seed);
  std::deque<Frame> under_way;  // all take as long: the first is due first
  std::vector<char> buffer(kLargestFrame);
  std::array<pollfd, 3> ready = {
      {{stop_.get(), POLLIN, 0}, {one_.get(), POLLIN, 0}, {other_.get(), POLLIN, 0}}};
  for (;;) {
    const auto now = steady_clock::now();
    for (; !under_way.empty() && under_way.front().due <= now; under_way.pop_front()) {
      const Frame& frame = under_way.front();
      if (send(frame.to, frame.bytes.data(), frame.bytes.size(), MSG_DONTWAIT) > 0) ++passed_;
    }
    int wait = -1;
    if (!under_way.empty())
      wait =
          static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(under_way.front().due - now).count());
    if (poll(ready.data(), ready.size(), wait) < 0 && errno != EINTR) return;
    if ((ready[0].revents & POLLIN) != 0) return;
    for (const auto& [from, to] :
         {std::pair(one_.get(), other_.get()), std::pair(other_.get(), one_.get())}) {
      for (ssize_t size = 0; (size = recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0;) {
        if (random() % 1000 < manners_.lost_per_mille || under_way.size() >= kMostUnderWay) {
          ++lost_;
          continue;
        }
        under_way.push_back({steady_clock::now() + manners_.delay, to,
                             std::vector<char>(buffer.begin(), buffer.begin() + size)});
      }
    }
  }
}

}  // namespace skerry::testing
