// Rates that brokers share: the gate in front of the core, the link to Redis, and what happens when that is
// lost.
//
//   if (rates->Hold(from, header, payloads, now)) return;   // else the core hears of it as ever
//   rates->Turn(now);                                       // when fd() is readable, and in each turn
//
// Lost (no answer within the timeout, a wrong one, a broken connection): what waits is heard at once, and
// from then on this broker's share decides (tenant_rates.h), until the link says that Redis is there again.
//
// Threads: the broker's. Ownership: borrows the core, which outlives it. Errors: Start says what is wrong
// with the options; a Redis that is not there is no error, now or later, but a warning and a metric.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/broker_core.h"
#include "broker/redis/broker_count.h"
#include "broker/redis/redis_link.h"
#include "broker/redis/redis_options.h"
#include "broker/sessions/submit_gate.h"
#include "common/result.h"

namespace skerry::broker {

class SharedRates {
 public:
  static Result<std::unique_ptr<SharedRates>> Start(const RedisOptions& options, BrokerCore& core);

  /// Whether the message waits, here; else it is untouched.
  bool Hold(const Peer& from, wire::Header& header, std::vector<Payload>& payloads, TimePoint now);
  /// Room for another message of any client.
  bool HasRoom() const { return gate_.HasRoom(); }
  /// Asks what is to be asked, hears what Redis says, and hands the core what has waited.
  void Turn(TimePoint now);

  /// Readable when there is something to hear.
  int fd() const { return link_.news_fd(); }
  /// When somebody will have waited long enough.
  std::optional<TimePoint> NextWake() const { return gate_.Deadline(); }

 private:
  SharedRates(const RedisOptions& options, RedisAddress address, std::string password, BrokerCore& core);

  void OnNews(RedisNews& news, TimePoint now);
  void Lose(const std::string& reason);
  void ShowBrokers(std::uint64_t told, TimePoint now);
  void Deliver(SubmitGate::Ready ready, TimePoint now);

  BrokerCore& core_;
  SubmitGate gate_;
  BrokerCount brokers_;
  bool up_ = false;
  bool told_ = false;           // that it is lost
  std::uint64_t up_count_ = 0;  // of the last kUp
  std::vector<NumberedAsk> asks_;
  RedisLink link_;  // last: its thread ends first
};

}  // namespace skerry::broker
