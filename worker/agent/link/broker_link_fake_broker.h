// A broker for tests of what is behind BrokerLink: one ROUTER on an ipc:// endpoint, driven step by step by
// the test's own thread.
//
// Threads: one, the test's script. Ownership: removes its endpoint's folder. Errors: a step that does not
// come in time is a failure of the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "common/units.h"
#include "common/wire/codec.h"

namespace skerry::agent {

class FakeBroker {
 public:
  FakeBroker() {
    std::string name = (std::filesystem::temp_directory_path() / "skerry-broker-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    Listen();
  }
  ~FakeBroker() {
    router_.close();
    std::filesystem::remove_all(folder_);
  }
  std::string url() const { return "ipc://" + folder_ + "/workers"; }

  void Listen() {
    router_ = zmq::socket_t(context_, zmq::socket_type::router);
    router_.set(zmq::sockopt::linger, 0);
    router_.bind(url());
  }
  /// Goes away and comes back with no memory.
  void Restart() {
    router_.close();
    Listen();
  }

  void Send(const wire::Header& header, const std::vector<std::string>& payloads = {}) {
    std::vector<std::string> frames = {peer_, wire::Encode(header)};
    frames.insert(frames.end(), payloads.begin(), payloads.end());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      router_.send(zmq::buffer(frames[i]),
                   i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }
  void Dispatch(std::uint64_t lease, const std::string& script, RequestedLimits limits = {}) {
    wire::Dispatch dispatch;
    dispatch.lease = LeaseId(lease);
    dispatch.job.id = JobId("j" + std::to_string(lease));
    dispatch.job.limits = std::move(limits);
    Send(dispatch, {script, ""});
  }

  /// The next message of this kind; others are passed over, and PINGs answered.
  template <class Message>
  std::optional<Message> Next(Millis limit = Millis(5'000)) {
    const TimePoint end = SteadyClock::now() + limit;
    for (;;) {
      const auto left = std::chrono::duration_cast<Millis>(end - SteadyClock::now());
      if (left <= Millis(0)) {
        ADD_FAILURE() << "no " << Message::kType << " came";
        return std::nullopt;
      }
      router_.set(zmq::sockopt::rcvtimeo, static_cast<int>(left.count()));
      auto header = Receive();
      const auto* ping = header ? std::get_if<wire::Ping>(&*header) : nullptr;
      if (ping != nullptr && answers_pings) Send(wire::Pong{ping->number});
      if (!header) continue;
      if (auto* message = std::get_if<Message>(&*header)) return *message;
    }
  }
  /// HELLO answered by WELCOME, and that read by the worker.
  enum class Memory : bool { kForgotten, kResumed };
  std::optional<wire::Hello> Greet(std::uint64_t heartbeat_ms = 1'000, Memory memory = Memory::kForgotten) {
    auto hello = Next<wire::Hello>();
    wire::Welcome welcome;
    welcome.resumed = memory == Memory::kResumed;
    welcome.heartbeat_ms = heartbeat_ms;
    welcome.session_ttl_ms = lease_ms;
    welcome.capabilities = capabilities;
    if (!hello) return std::nullopt;
    Send(welcome);
    Send(wire::Ping{});
    Next<wire::Pong>();
    return hello;
  }

  /// Reads what comes within `time`, answers PINGs and drops the rest.
  void Answer(Millis time) {
    router_.set(zmq::sockopt::rcvtimeo, static_cast<int>(time.count()));
    while (auto header = Receive()) {
      const auto* ping = std::get_if<wire::Ping>(&*header);
      if (ping != nullptr && answers_pings) Send(wire::Pong{ping->number});
    }
  }

  bool answers_pings = true;
  std::uint64_t slots = 0;                // of the last HELLO or CREDIT
  std::vector<std::string> capabilities;  // of the next WELCOME
  std::uint64_t lease_ms = 0;             // likewise: its sessionTtlMs
  std::vector<std::string> payloads;      // of the last message received

 private:
  std::optional<wire::Header> Receive() {
    payloads.clear();
    zmq::message_t frame;
    if (!router_.recv(frame)) return std::nullopt;
    peer_ = frame.to_string();
    (void)router_.recv(frame);
    const std::string header = frame.to_string();
    while (frame.more()) {
      (void)router_.recv(frame);
      payloads.push_back(frame.to_string());
    }
    auto decoded = wire::Decode(header);
    if (decoded) {
      if (const auto* hello = std::get_if<wire::Hello>(&*decoded)) slots = hello->slots;
      if (const auto* credit = std::get_if<wire::Credit>(&*decoded)) slots = credit->slots;
      return *decoded;
    }
    ADD_FAILURE() << decoded.error().message;
    return std::nullopt;
  }

  zmq::context_t context_{1};
  zmq::socket_t router_;
  std::string folder_;
  std::string peer_;
};

}  // namespace skerry::agent
