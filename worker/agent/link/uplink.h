// The way from a job to the broker, as the job sees it. BrokerLink implements it over ZeroMQ, and tests in
// memory.
//
// Threads: the event loop's. Errors: see Send.
#pragma once

#include <string>
#include <vector>

#include "common/wire/messages.h"

namespace skerry::agent {

class Uplink {
 public:
  virtual ~Uplink() = default;
  /// Queues a message; never blocks. False: an EVENT was dropped, since too much is waiting to be sent.
  /// Nothing else is ever dropped.
  virtual bool Send(wire::Header header, std::vector<std::string> payloads) = 0;
};

}  // namespace skerry::agent
