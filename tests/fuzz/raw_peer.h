// A DEALER that sends whatever it is told to and reads without understanding: a peer that breaks the
// protocol.
//
// Threads: one. Ownership: borrows the context. Errors: a broker that does not take a message within five
// seconds fails the test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <zmq.hpp>

#include "common/wire/codec.h"
#include "tests/fuzz/samples.h"

namespace skerry::fuzz {

class RawPeer {
 public:
  RawPeer(zmq::context_t& context, const std::string& endpoint) : socket_(context, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 1'000);  // what was sent last must arrive, too
    socket_.set(zmq::sockopt::sndtimeo, 5'000);
    socket_.connect(endpoint);
  }

  void Send(const Frames& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
      ASSERT_TRUE(socket_.send(zmq::buffer(frames[i]), more)) << "the broker has stopped reading";
    }
  }
  void Say(const wire::Header& header) { Send({wire::Encode(header)}); }

  /// Throws away what has arrived; how many messages it was.
  std::size_t Drain() {
    std::size_t messages = 0;
    zmq::message_t frame;
    while (socket_.recv(frame, zmq::recv_flags::dontwait)) messages += frame.more() ? 0 : 1;
    return messages;
  }

 private:
  zmq::socket_t socket_;
};

}  // namespace skerry::fuzz
