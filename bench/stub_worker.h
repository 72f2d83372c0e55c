// A worker that runs nothing: every DISPATCH is answered with a FINAL at once. Behind a relay it answers
// SUBMITs themselves, with the same work per job.
//
// Threads: one of its own, from construction to destruction. Ownership: owns its socket.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "bench/wire_client.h"

namespace skerry::bench {

class StubWorker {
 public:
  /// `value`: of every job, JSON text.
  StubWorker(const std::string& endpoint, FarSide far_side, std::uint64_t slots, std::string value);
  ~StubWorker();
  StubWorker(const StubWorker&) = delete;
  StubWorker& operator=(const StubWorker&) = delete;

 private:
  void Serve();
  void SayHello();
  void AnswerOne(zmq::message_t& first);
  void AnswerHeader(const wire::Header& header, std::string_view route);

  const FarSide far_side_;
  const std::uint64_t slots_;
  const std::string value_;
  std::uint64_t seq_ = 0;
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace skerry::bench
