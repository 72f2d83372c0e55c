// Who a peer is, as the key of its connection proved. What a peer says of itself proves nothing.
//
// Threads: plain data. Ownership: shared by all messages of a connection, never changed.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

namespace skerry::broker {

/// Clients, workers and operators come in by sockets of their own. The core knows the first two alone.
enum class Side : std::uint8_t { kClient, kWorker, kAdmin };

struct Identity {
  Side side = Side::kClient;  ///< what its key opens
  std::string name;           ///< the tenant of a client's key, the name of a worker's or an operator's
  std::string key;            ///< the public key, as text
  auto operator<=>(const Identity&) const = default;
};

/// Null: it came by a socket without keys (ipc://, or loopback where the operator allows that), whose
/// permissions are what protects it; it may say who it is.
using Proof = std::shared_ptr<const Identity>;

inline std::strong_ordering Compare(const Proof& a, const Proof& b) {
  if (a == b) return std::strong_ordering::equal;
  if (a == nullptr || b == nullptr) return (a != nullptr) <=> (b != nullptr);
  return *a <=> *b;
}

}  // namespace skerry::broker
