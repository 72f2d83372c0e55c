#include "clients/cpp/zmq_facts.h"

#include <zmq.h>

namespace skerry {

ZmqFacts FactsOfZmq() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  zmq_version(&major, &minor, &patch);
  return {std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch),
          zmq_has("curve") == 1, zmq_has("ipc") == 1};
}

}  // namespace skerry
