// Where jobs go in and their events come out: one broker's session (ClientCore), or several (BrokerSpread).
//
// Threads: one at a time. Errors: as ClientCore's.
#pragma once

#include <cstdint>
#include <vector>

#include "clients/cpp/client_types.h"

namespace skerry::client {

enum class LinkState : std::uint8_t { kConnecting, kLinked, kFailed };

class JobPort {
 public:
  virtual ~JobPort() = default;
  /// Takes `request` when there is room, else leaves it as it is. An id that is unfinished here is an Error.
  virtual Result<SubmitResult> Submit(JobRequest& request, TimePoint now) = 0;
  virtual void Cancel(const JobId& id) = 0;
  virtual std::vector<ClientEvent> TakeEvents() = 0;
  virtual LinkState link() const = 0;
  /// How many jobs may be unfinished at once.
  virtual std::uint64_t places() const = 0;
};

}  // namespace skerry::client
