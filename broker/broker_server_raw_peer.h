// A peer that speaks raw frames to a broker under test, with a key or without.
//
// Threads: the test's. Ownership: borrows the context. Errors: what does not come within kPatienceMs is
// nothing.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>
#include <zmq.hpp>

#include "common/curve/curve.h"
#include "common/units.h"
#include "common/wire/codec.h"

namespace skerry::broker {

inline constexpr int kPatienceMs = 20'000;

/// A peer that speaks raw frames.
class RawPeer {
 public:
  RawPeer(zmq::context_t& context, const std::string& endpoint,
          const std::optional<keys::LinkKeys>& keys = std::nullopt, const std::string& routing_id = {})
      : socket_(context, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, kPatienceMs);
    socket_.set(zmq::sockopt::sndtimeo, kPatienceMs);
    if (!routing_id.empty()) socket_.set(zmq::sockopt::routing_id, routing_id);
    if (keys) curve::ConnectWith(socket_, *keys);
    socket_.connect(endpoint);
  }

  void Put(const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      zmq::message_t frame(frames[i]);
      socket_.send(frame, i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }
  void Put(const wire::Header& header, std::vector<std::string> payloads = {}) {
    payloads.insert(payloads.begin(), wire::Encode(header));
    Put(payloads);
  }

  /// The next message, whatever it is.
  std::optional<wire::Header> AwaitAny() {
    zmq::message_t frame;
    if (!socket_.recv(frame)) return std::nullopt;
    auto header = wire::Decode({frame.data<char>(), frame.size()});
    payloads.clear();
    while (frame.more()) {
      (void)socket_.recv(frame);
      payloads.push_back(frame.to_string());
    }
    if (!header) return std::nullopt;
    return std::move(*header);
  }
  /// The next message of that kind; others are passed over. Its payloads are in `payloads`.
  template <class Message>
  std::optional<Message> Await() {
    const TimePoint until = SteadyClock::now() + Millis(kPatienceMs);
    while (SteadyClock::now() < until) {
      zmq::message_t frame;
      if (!socket_.recv(frame)) return std::nullopt;
      auto header = wire::Decode({frame.data<char>(), frame.size()});
      payloads.clear();
      while (frame.more()) {
        (void)socket_.recv(frame);
        payloads.push_back(frame.to_string());
      }
      if (!header) {
        ADD_FAILURE() << header.error().message;
        return std::nullopt;
      }
      if (auto* message = std::get_if<Message>(&*header)) return std::move(*message);
    }
    return std::nullopt;
  }

  /// Whether nothing comes within that time.
  bool HearsNothing(Millis time) {
    socket_.set(zmq::sockopt::rcvtimeo, static_cast<int>(time.count()));
    zmq::message_t frame;
    const bool heard = socket_.recv(frame).has_value();
    socket_.set(zmq::sockopt::rcvtimeo, kPatienceMs);
    return !heard;
  }

  std::vector<std::string> payloads;
  zmq::socket_t& socket() { return socket_; }

 private:
  zmq::socket_t socket_;
};

}  // namespace skerry::broker
