// A client that says on the wire exactly what a test wants, good manners or none.
//
// Threads: one. Ownership: a context and a socket of its own; its end closes the connection without a BYE.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "common/units.h"
#include "common/wire/codec.h"

namespace skerry::testing {

/// kDeaf: ZeroMQ's thread does not read on the test's behalf either, beyond a message or two.
enum class Hearing : std::uint8_t { kGood, kDeaf };

class RawClient {
 public:
  RawClient(const std::string& broker, std::string session, Hearing hearing = Hearing::kGood)
      : session_(std::move(session)), socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::sndtimeo, 10'000);
    if (hearing == Hearing::kDeaf) socket_.set(zmq::sockopt::rcvhwm, 1);
    socket_.connect(broker);
  }

  /// HELLO, and what the broker answers; nothing within five seconds: none.
  std::optional<wire::Welcome> Greet() {
    wire::Hello hello;
    hello.session = SessionId(session_);
    hello.tenant = TenantId("default");
    Send(hello);
    for (const TimePoint end = SteadyClock::now() + Millis(5'000); SteadyClock::now() < end;) {
      const auto header = Read(Millis(100));
      if (header && std::holds_alternative<wire::Welcome>(*header)) return std::get<wire::Welcome>(*header);
    }
    return std::nullopt;
  }

  /// False: the broker has not taken it for ten seconds.
  bool Send(const wire::Header& header, const std::vector<std::string>& payloads = {}) {
    const std::string encoded = wire::Encode(header);
    if (!socket_.send(zmq::buffer(encoded),
                      payloads.empty() ? zmq::send_flags::none : zmq::send_flags::sndmore))
      return false;
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      (void)socket_.send(zmq::buffer(payloads[i]),
                         i + 1 < payloads.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
    return true;
  }
  bool Submit(const std::string& id, const std::string& code, const std::string& input = "null",
              Admission admission = Admission::kQueue) {
    wire::Submit submit;
    submit.job.id = JobId(id);
    submit.job.tenant = TenantId("default");
    submit.job.admission = admission;
    return Send(submit, {code, input});
  }

  std::optional<wire::Header> Read(Millis patience) {
    socket_.set(zmq::sockopt::rcvtimeo, static_cast<int>(patience.count()));
    zmq::message_t frame;
    if (!socket_.recv(frame)) return std::nullopt;
    auto header = wire::Decode({frame.data<char>(), frame.size()});
    while (frame.more()) (void)socket_.recv(frame);
    if (!header) return std::nullopt;
    return std::move(*header);
  }

 private:
  const std::string session_;
  zmq::context_t context_;
  zmq::socket_t socket_;
};

}  // namespace skerry::testing
