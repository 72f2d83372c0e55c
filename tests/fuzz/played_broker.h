// The broker's side of a worker's link, played by a test: one worker, right messages and wrong ones.
//
// It answers HELLO with WELCOME and PING with PONG whenever they come, so that a test only sees what it asked
// for.
//
// Threads: one. Ownership: removes its endpoint's folder. Errors: what does not come in time fails the test.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>
#include <zmq.hpp>

#include "common/units.h"
#include "common/wire/codec.h"
#include "tests/fuzz/samples.h"
#include "tests/support/places.h"

namespace skerry::fuzz {

class PlayedBroker {
 public:
  struct Ended {
    wire::Final final;
    std::string payload;
  };

  PlayedBroker() : router_(context_, zmq::socket_type::router) {
    router_.set(zmq::sockopt::linger, 0);
    router_.set(zmq::sockopt::sndhwm, 0);  // a ROUTER drops what is past it
    router_.bind(url());
  }

  std::string url() const { return "ipc://" + (dir_ / "workers").string(); }

  void AwaitWorker() {
    const TimePoint end = SteadyClock::now() + Millis(20'000);
    while (greetings_ == 0 && SteadyClock::now() < end) Receive(Millis(100));
    ASSERT_GT(greetings_, 0u) << "the worker did not greet";
  }
  /// The next greeting: the worker opens its link anew after a BYE.
  void AwaitGreeting() {
    const std::size_t before = greetings_;
    const TimePoint end = SteadyClock::now() + Millis(20'000);
    while (greetings_ == before && SteadyClock::now() < end) Receive(Millis(100));
    ASSERT_GT(greetings_, before) << "the worker did not come back";
  }

  /// Answers what comes meanwhile: a broker that is silent is left for a new link.
  void Serve(Millis time) {
    for (const TimePoint end = SteadyClock::now() + time; SteadyClock::now() < end;) Receive(time);
  }

  void Send(const Frames& frames) {
    (void)router_.send(zmq::buffer(worker_), zmq::send_flags::sndmore);
    for (std::size_t i = 0; i < frames.size(); ++i)
      (void)router_.send(zmq::buffer(frames[i]),
                         i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
  void Dispatch(std::uint64_t lease, const std::string& code, const std::string& input) {
    wire::Dispatch dispatch;
    dispatch.lease = LeaseId(lease);
    dispatch.job.id = JobId("j");
    dispatch.job.retry = Retry::kNever;
    dispatch.job.limits = {{"memoryMb", 64}, {"timeoutMs", 5'000}};
    Send({wire::Encode(dispatch), code, input});
  }

  /// The next FINAL, of whatever lease.
  std::optional<Ended> NextFinal(Millis patience = Millis(20'000)) {
    for (const TimePoint end = SteadyClock::now() + patience; SteadyClock::now() < end;) {
      if (auto final = Receive(Millis(100))) return final;
    }
    return std::nullopt;
  }
  /// What has come so far, thrown away.
  void Drain() {
    while (Receive(Millis(0)) || more_) {
    }
  }
  std::size_t greetings() const { return greetings_; }

 private:
  std::optional<Ended> Receive(Millis patience) {
    more_ = false;
    router_.set(zmq::sockopt::rcvtimeo, static_cast<int>(patience.count()));
    zmq::message_t frame;
    if (!router_.recv(frame)) return std::nullopt;
    more_ = true;
    const std::string from = frame.to_string();
    (void)router_.recv(frame);
    const auto header = wire::Decode({frame.data<char>(), frame.size()});
    std::string payload;
    while (frame.more()) {
      (void)router_.recv(frame);
      payload = frame.to_string();
    }
    EXPECT_TRUE(header) << "the worker itself sent what does not decode: " << header.error().message;
    if (!header) return std::nullopt;
    if (std::holds_alternative<wire::Hello>(*header)) {
      worker_ = from;
      ++greetings_;
      Send({wire::Encode(wire::Welcome{})});
    }
    if (const auto* ping = std::get_if<wire::Ping>(&*header)) Send({wire::Encode(wire::Pong{ping->number})});
    if (const auto* final = std::get_if<wire::Final>(&*header)) return Ended{*final, std::move(payload)};
    return std::nullopt;
  }

  testing::TempDir dir_;
  zmq::context_t context_;
  zmq::socket_t router_;
  std::string worker_;
  std::size_t greetings_ = 0;
  bool more_ = false;
};

}  // namespace skerry::fuzz
