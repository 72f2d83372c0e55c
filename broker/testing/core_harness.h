// A BrokerCore with a clock that tests turn by hand, and peers that are names.
//
// Threads: the test's.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "broker/broker_core.h"
#include "common/wire/codec.h"

namespace skerry::broker::testing {

inline Peer ClientPeer(const std::string& name) {
  return {Side::kClient, name};
}
inline Peer WorkerPeer(const std::string& name) {
  return {Side::kWorker, name};
}

class CoreHarness {
 public:
  explicit CoreHarness(const BrokerConfig& config = {}) : core(config, TimePoint()) {}

  void Say(const Peer& from, wire::Header header, const std::vector<std::string>& payloads = {}) {
    std::vector<Payload> frames;
    for (const std::string& payload : payloads) frames.emplace_back(payload);
    core.OnMessage(from, std::move(header), std::move(frames), now);
    Collect();
  }
  void ConnectClient(const std::string& link, const std::string& session) {
    wire::Hello hello;
    hello.session = SessionId(session);
    Say(ClientPeer(link), hello);
  }
  void ConnectWorker(const std::string& link, std::uint64_t slots, std::uint64_t memory_mb = 4096,
                     const std::string& session = {}, const std::vector<LeaseId>& leases = {},
                     const std::vector<std::string>& capabilities = {"reproducible"}) {
    wire::Hello hello;
    hello.leases = leases;
    hello.capabilities = capabilities;
    hello.role = wire::Role::kWorker;
    hello.session = SessionId(session.empty() ? "session of " + link : session);
    hello.slots = slots;
    hello.memory_mb = memory_mb;
    Say(WorkerPeer(link), hello);
  }
  static JobSpec Spec(const std::string& id) {
    JobSpec spec;
    spec.id = JobId(id);
    return spec;
  }
  void Submit(const std::string& link, JobSpec spec, const std::string& code = "code",
              const std::string& input = "1") {
    Say(ClientPeer(link), wire::Submit{std::move(spec)}, {code, input});
  }
  void Submit(const std::string& link, const std::string& id) { Submit(link, Spec(id)); }

  /// Time passes as the shell lets it: with a tick at every wake, while `alive` peers keep talking.
  void Pass(Millis time, const std::vector<Peer>& alive = {}) {
    for (const TimePoint until = now + time; now < until;) {
      now = std::min(std::max(core.NextWake(), now + Millis(1)), until);
      for (const Peer& peer : alive) core.OnMessage(peer, wire::Pong{last_ping_[peer]}, {}, now);
      core.OnTick(now);
      Collect();
    }
  }

  /// The client reads all that was sent to it, and says so.
  void Read(const std::string& link) {
    Pass(Millis(1'000), {ClientPeer(link)});
    Say(ClientPeer(link), wire::Pong{last_ping_[ClientPeer(link)]});
  }
  void Stop() {
    core.OnStop();
    Collect();
  }
  /// The socket did not take a message.
  void Undeliver(const Peer& peer, wire::Header header) {
    core.OnUndeliverable({peer, std::move(header), {}}, now);
    Collect();
  }

  /// Ends a job the way its worker would.
  void FinishOk(const Peer& worker, LeaseId lease, const std::string& value = "null",
                std::uint32_t attempt = 1) {
    wire::Final final;
    final.lease = lease;
    final.ok = true;
    final.started = true;
    final.attempt = attempt;
    Say(worker, final, {value});
  }

  /// Everything of one kind sent to a peer since the last Clear, in order.
  template <class Message>
  std::vector<Message> Sent(const Peer& peer) const {
    std::vector<Message> found;
    for (const Send& send : sends) {
      if (send.peer != peer) continue;
      if (const auto* message = std::get_if<Message>(&send.header)) found.push_back(*message);
    }
    return found;
  }
  template <class Message>
  std::vector<Message> ToClient(const std::string& link) const {
    return Sent<Message>(ClientPeer(link));
  }
  template <class Message>
  std::vector<Message> ToWorker(const std::string& link) const {
    return Sent<Message>(WorkerPeer(link));
  }
  /// The only final that a client was sent since the last Clear.
  wire::Final OnlyFinal(const std::string& link) const {
    const auto finals = ToClient<wire::Final>(link);
    EXPECT_EQ(finals.size(), 1u);
    return finals.empty() ? wire::Final{} : finals[0];
  }
  std::string PayloadOfLast(const Peer& peer) const {
    for (auto send = sends.rbegin(); send != sends.rend(); ++send) {
      if (send->peer == peer && !send->payloads.empty()) return std::string(send->payloads.back().bytes());
    }
    return {};
  }
  std::string MessageOfLast(const std::string& link) const {
    const auto detail = wire::DecodeDetail(PayloadOfLast(ClientPeer(link)));
    return detail ? detail->message : std::string();
  }
  LeaseId LastLease(const std::string& worker) const {
    const auto dispatches = ToWorker<wire::Dispatch>(worker);
    EXPECT_FALSE(dispatches.empty());
    return dispatches.empty() ? LeaseId() : dispatches.back().lease;
  }
  void Clear() { sends.clear(); }

  BrokerCore core;
  TimePoint now;
  std::vector<Send> sends;

 private:
  void Collect() {
    for (Send& send : core.TakeSends()) {
      const auto* ping = std::get_if<wire::Ping>(&send.header);
      if (ping != nullptr && ping->number != 0) last_ping_[send.peer] = ping->number;
      sends.push_back(std::move(send));
    }
  }

  std::unordered_map<Peer, std::uint64_t> last_ping_;
};

}  // namespace skerry::broker::testing
