// What the ZeroMQ library of this process is. Threads: any.
#pragma once

#include <string>

namespace skerry {

struct ZmqFacts {
  std::string version;  ///< "4.3.4"
  bool has_curve = false;
  bool has_ipc = false;
};
ZmqFacts FactsOfZmq();

}  // namespace skerry
