// Answers operators' questions (schemas/admin.md): one message in, one message out, nothing kept of who
// asked.
//
//   AdminDesk desk(core, now);
//   const AdminAnswer answer = desk.Answer(header, now);
//
// Threads: the core's. Ownership: borrows the core. Errors: what cannot be answered is DENIED, with why.
#pragma once

#include <string>
#include <string_view>

#include "broker/broker_core.h"
#include "common/hash.h"
#include "common/units.h"
#include "common/wire/admin.h"

namespace skerry::broker {

struct AdminAnswer {
  wire::AdminHeader header;
  std::string rows;  ///< the payload of a TOLD
};

class AdminDesk {
 public:
  /// `began` is what the broker's age is counted from.
  AdminDesk(BrokerCore& core, TimePoint began) : core_(core), began_(began) {}

  AdminAnswer Answer(std::string_view header, TimePoint now);

 private:
  AdminAnswer Answer(const wire::Ask& ask, TimePoint now);
  AdminAnswer Workers(const wire::Ask& ask, TimePoint now) const;
  AdminAnswer Tenants(const wire::Ask& ask) const;
  AdminAnswer Drain(const wire::Ask& ask, OperatorDrain drain, TimePoint now);

  BrokerCore& core_;
  const TimePoint began_;
  const std::string instance_ = RandomHex(8);
};

}  // namespace skerry::broker
