// What operators do to workers.
#include "broker/broker_core.h"
#include "common/logging.h"

namespace skerry::broker {

const Worker* BrokerCore::SetDrain(const SessionId& id, OperatorDrain drain, TimePoint now) {
  Worker* worker = workers_.Find(id);
  if (worker == nullptr) return nullptr;
  const LogFields fields = {{"worker", id.str()}, {"host", worker->host}, {"jobs", worker->used_slots()}};
  workers_.SetDrain(*worker, drain);
  if (drain == OperatorDrain::kOn) {
    log::Info("worker is drained by an operator", fields);
  } else {
    log::Info("worker is given jobs again by an operator", fields);
    ledger_.Unpark();
    ledger_.Dispatch(now);
  }
  return worker;
}

}  // namespace skerry::broker
