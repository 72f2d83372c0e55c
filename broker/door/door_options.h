// How the broker's endpoints are protected: CURVE on TCP, file permissions on ipc://.
//
// Threads: plain data. Errors: Validate says every fault at once, one a line, each beginning with its
// setting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "broker/identity.h"
#include "common/endpoint.h"
#include "common/result.h"

namespace skerry::broker {

struct DoorOptions {
  std::string key_file;  ///< the broker's secret key; empty: none, and no TCP endpoint but plain loopback
  std::string authorized_file;  ///< who may connect by TCP: authorized_keys.h; read again on SIGHUP
  /// Whether tcp:// on loopback may do without keys: every user and program of the machine can connect then,
  /// as any tenant, worker or operator.
  bool plain_loopback = false;
  /// Connections on each side whose handshake is not finished, 1 to 65536. Past it the oldest is closed. More
  /// bear larger crowds that reconnect at once; each costs a descriptor and some memory for 5 s at the most.
  std::uint64_t max_handshakes = 1024;

  bool has_keys() const { return !key_file.empty(); }
  Status Validate(const std::vector<std::string>& clients, const std::vector<std::string>& workers,
                  const std::vector<std::string>& admins) const;
  /// What is wrong with listening there, if anything.
  Status Check(const std::string& endpoint) const;
};

}  // namespace skerry::broker
