// The worker's connection to its broker: a ZeroMQ DEALER that never blocks. ZeroMQ is behind this header and
// nowhere else in the worker.
//
// It greets (HELLO), keeps the heartbeat, and opens the connection anew when the broker has been silent too
// long. While there is no WELCOME, what is sent waits here in order; EVENTs past kMaxWaitingBytes are
// dropped, nothing else is. EVENTs, CALLs and FINALs are numbered and kept until a PONG says that the broker
// has read them: a new connection sends them again, and the broker drops those that it has. A broker that
// has forgotten this worker gets none of them: what they are about runs elsewhere by then.
//
// Threads: the event loop's; libzmq has an I/O thread of its own.
// Ownership: borrows loop and listener, which outlive it.
// Errors: Open fails on an endpoint that ZeroMQ does not take, and on keys that cannot be read (they are read
// anew for each connection). A handshake that fails is logged, with the reason. A malformed message from the
// broker is logged and dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/curve/handshake_trouble.h"
#include "common/keys/link_keys.h"
#include "common/result.h"
#include "worker/agent/event_loop.h"
#include "worker/agent/link/link_state.h"
#include "worker/agent/link/uplink.h"

namespace skerry::agent {

class LinkListener {
 public:
  virtual ~LinkListener() = default;
  /// The first connection and each one after a silence. kForgotten: the broker has given away whatever this
  /// worker had; it must be ended without a word.
  enum class Memory : bool { kForgotten, kResumed };
  virtual void OnWelcome(const wire::Welcome& welcome, Memory memory) = 0;
  /// Everything but WELCOME, REFUSE, PING, PONG and BYE: those are the link's.
  virtual void OnMessage(wire::Header header, std::vector<std::string> payloads) = 0;
  virtual void OnRefused(const std::string& reason) = 0;
  /// Nothing has been heard for so long that the broker is about to give away what this worker has: it must
  /// end by then. What is sent about it waits for the next WELCOME.
  virtual void OnCutOff() = 0;
};

class BrokerLink final : public Uplink {
 public:
  static constexpr std::size_t kMaxWaitingBytes = 64u << 20;

  /// `hello` makes the greeting anew for each connection.
  BrokerLink(EventLoop& loop, LinkListener& listener, keys::LinkSettings at,
             std::function<wire::Hello()> hello);
  ~BrokerLink() override;

  Status Open();
  bool Send(wire::Header header, std::vector<std::string> payloads) override;
  bool connected() const { return state_.connected(); }
  /// Leases whose FINAL the broker may not have read yet.
  std::vector<LeaseId> UnconfirmedFinals() const;
  /// Runs `done` once the broker has read everything sent so far on this connection, and what it had sent
  /// before has arrived. Forgotten when the connection is opened anew.
  void Barrier(std::function<void()> done);
  /// Gives the connection up, with whatever is on its way over it, for a new one.
  void Reconnect() { Reopen(); }
  /// Says BYE and ends the connection; waits at most `patience` for what is queued to leave.
  void Close(Millis patience);

 private:
  struct Socket;
  struct Outgoing {
    std::string header;
    std::vector<std::string> payloads;
    bool about_job = false;  // numbered, and kept until it is confirmed
    LeaseId final_of;        // where it is one
    std::uint64_t ping = 0;  // the PING whose PONG confirms it
    std::size_t Bytes() const;
  };

  void Service();
  void ServiceSoon();
  bool ReceiveOne();
  void Handle(std::vector<std::string> frames);
  /// Sends what waits, as far as ZeroMQ takes it.
  void FlushWaiting();
  bool SendNow(Outgoing& message);
  void SendPing();
  void OnPong(const wire::Pong& pong);
  void OnWelcome(const wire::Welcome& welcome);
  /// What was sent and not confirmed waits again, before all else.
  void TakeBackUnconfirmed();
  void ForgetJobs();
  void Tick();
  /// Says why handshakes fail, and lets who fails again and again come back after a pause only.
  void LookAtHandshakes();
  void Reopen();

  EventLoop& loop_;
  LinkListener& listener_;
  const keys::LinkSettings at_;
  const std::function<wire::Hello()> hello_;
  std::unique_ptr<Socket> socket_;
  EventLoop::Watch watch_;       // after the socket
  EventLoop::Watch handshakes_;  // after its monitor
  curve::HandshakeTrouble trouble_;
  std::optional<TimePoint> reopen_at_;  // while it waits to connect again
  Deadlines::Handle tick_;
  LinkState state_;
  std::deque<Outgoing> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool service_posted_ = false;
  std::deque<Outgoing> unconfirmed_;
  std::size_t unconfirmed_bytes_ = 0;
  std::size_t unmarked_bytes_ = 0;  // sent since the last PING
  std::uint64_t seq_ = 0;
  std::uint64_t pings_ = 0;  // the number of the last; the broker answers each, in order
  std::deque<std::pair<std::uint64_t, std::function<void()>>> barriers_;  // by the PING that they wait for
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace skerry::agent
