// The sockets of a client: one for each broker that its BrokerSpread speaks to.
//
// Threads: one. Ownership: owns sockets and their context. Errors: a broker that there can be no socket for
// is told to the spread as one that refuses.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "clients/cpp/broker_spread.h"
#include "clients/cpp/dealer.h"

namespace skerry::client {

class BrokerSockets {
 public:
  explicit BrokerSockets(const ClientOptions& options)
      : options_(options), context_(std::make_shared<zmq::context_t>(1)) {}

  /// Opens sockets of new members, and says BYE to those that are gone.
  void Follow(BrokerSpread& spread, TimePoint now);
  /// Sends what the cores want sent. True: something is left that a socket did not take.
  bool Flush(const BrokerSpread& spread);
  enum class Listen : bool { kNo, kYes };
  /// Sleeps until a socket or `wake` has something, or `patience` is over.
  void Wait(int wake, Listen listen, Millis patience);
  /// Gives the spread what has come, at most so many messages of each broker.
  void Read(BrokerSpread& spread, int at_most);
  /// Says BYE wherever there is a link.
  void Leave(const BrokerSpread& spread);
  /// What is known of why nobody answers, for an Error's end.
  std::string WhyNobodyAnswers();

 private:
  struct Line {
    std::string endpoint;
    std::unique_ptr<Dealer> dealer;
    std::deque<Outgoing> pending;
    std::uint64_t generation = 0;
    bool linked = false;
  };

  static bool Flush(Line& line, ClientCore& core);

  const ClientOptions& options_;
  std::shared_ptr<zmq::context_t> context_;
  std::map<BrokerSpread::Number, Line> lines_;
  std::vector<zmq::pollitem_t> items_;
};

}  // namespace skerry::client
