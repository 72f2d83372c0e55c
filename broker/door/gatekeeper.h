// The broker's door: sets sockets up to encrypt, answers libzmq's questions whom to let in (ZAP, RFC 27), and
// says whose key a message came by.
//
//   Gatekeeper door(context, options);
//   auto open = door.Open();                       // before anything is bound
//   auto guarded = door.Guard(socket, Side::kClient, endpoint);   // then socket.bind(endpoint)
//   door.Serve(...)                                // whenever door.socket() is readable
//
// Threads: the broker's. Ownership: borrows the context. Errors: Open says every fault of key and list; Guard
// refuses endpoints that nothing would protect. While Serve is not called nobody new gets in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <zmq.hpp>

#include "broker/door/authorized_keys.h"
#include "broker/door/door_options.h"
#include "broker/door/zap.h"
#include "broker/metrics/counters.h"
#include "common/keys/key.h"
#include "common/result.h"

namespace skerry::broker {

/// What would keep a broker with these keys from starting: every fault of key and list, one a line.
Status CheckDoorFiles(const DoorOptions& options);

class Gatekeeper {
 public:
  Gatekeeper(zmq::context_t& context, DoorOptions options);

  Status Open();
  /// For the socket's next bind.
  Status Guard(zmq::socket_t& socket, Side side, const std::string& endpoint);
  /// Answers who waits at the door; `refused` hears of each that is not let in.
  void Serve(const std::function<void(HandshakeRefusal)>& refused);
  /// Reads the list again. Errors: the old one stays in force, with every fault of the new;
  /// also of one that names nobody, where the old one does.
  Status Reload();

  bool has_keys() const { return secret_.has_value(); }
  const AuthorizedKeys& authorized() const { return authorized_; }
  /// Whose key a message came by; a null proof where there are no keys. Nothing: its key is revoked since,
  /// and it must be dropped.
  std::optional<Proof> Identify(zmq::message_t& frame) const;
  zmq::socket_t& socket() { return zap_; }

 private:
  const DoorOptions options_;
  std::optional<keys::SecretKey> secret_;
  AuthorizedKeys authorized_;
  zmq::socket_t zap_;
};

}  // namespace skerry::broker
