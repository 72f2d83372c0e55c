// Two interfaces of one namespace joined by a program: what comes out of one goes into the other, later, or
// never. For kernels without netem.
//
// Frames pass as they are, with the kernel's notes on them (PACKET_VNET_HDR): large ones that the sender's
// kernel left to be cut up, and sums that it left to be computed, stay so.
//
// Threads: one of its own, in the namespace of the thread that constructs it. Ownership: the interfaces are
// borrowed, and must be of no bridge. Errors: sockets that cannot be had throw; a frame that cannot be sent
// is lost, as on a wire.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "common/fd.h"

namespace skerry::testing {

struct WireManners {
  std::chrono::milliseconds delay{0};
  unsigned lost_per_mille = 0;
  std::uint64_t seed = 1;
};

class SlowWire {
 public:
  SlowWire(const std::string& one, const std::string& other, WireManners manners);
  ~SlowWire();
  SlowWire(const SlowWire&) = delete;
  SlowWire& operator=(const SlowWire&) = delete;

  std::uint64_t passed() const { return passed_; }
  std::uint64_t lost() const { return lost_; }

 private:
  void Work();

  const WireManners manners_;
  const Fd one_;
  const Fd other_;
  const Fd stop_;
  std::atomic<std::uint64_t> passed_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::thread thread_;
};

}  // namespace skerry::testing
