// The broker's socket for operators (schemas/admin.md): questions in, answers out, bounded by the turn.
//
// Who is let in may ask everything: whoever may open an ipc:// endpoint's file, mode 0600; on TCP whoever has
// a key of [admins] (broker/door/authorized_keys.h).
//
// Threads: one, the server's. Ownership: owns its socket, borrows the door. Errors: Bind says what is wrong
// with the endpoint; an answer that its asker does not take is dropped.
#pragma once

#include <functional>
#include <string>
#include <zmq.hpp>

#include "broker/admin/admin_desk.h"
#include "broker/door/connection_watch.h"
#include "broker/door/gatekeeper.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::broker {

class AdminSocket {
 public:
  /// Questions answered between two looks at clients and workers.
  static constexpr int kQuestionsPerTurn = 4;
  /// Connections at once: tools ask and go, and `skerry top` is one.
  static constexpr std::size_t kMostConnections = 32;
  /// Of a question that has not come to its end: many times the largest (wire::kMaxHeaderBytes), since what
  /// libzmq's heartbeats say to who asks nothing counts as well, 100 bytes a minute.
  static constexpr Bytes kMostUnfinished = Bytes::MiB(1);

  AdminSocket(zmq::context_t& context, Gatekeeper& door);

  Status Bind(const std::string& endpoint);
  /// Answers what has come, kQuestionsPerTurn at most; `unheard` is told of each whose key was revoked since
  /// it came in.
  void Turn(AdminDesk& desk, const std::function<void()>& unheard, TimePoint now);
  zmq::socket_t& socket() { return socket_; }
  ConnectionWatch& watch() { return watch_; }
  const ConnectionWatch& watch() const { return watch_; }

 private:
  bool AnswerOne(AdminDesk& desk, const std::function<void()>& unheard, TimePoint now);
  /// Whether who sent it may ask.
  bool Hears(zmq::message_t& header);

  Gatekeeper& door_;
  zmq::socket_t socket_;
  ConnectionWatch watch_;
};

}  // namespace skerry::broker
