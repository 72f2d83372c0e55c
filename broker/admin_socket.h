// The broker's socket for operators (schemas/admin.md): questions in, answers out, bounded by the turn.
//
// Who may open it may ask everything, so its file is its user's alone, mode 0600.
//
// Threads: one, the server's. Ownership: owns its socket. Errors: Bind says what is wrong with the endpoint;
// an answer that its asker does not take is dropped.
#pragma once

#include <string>
#include <zmq.hpp>

#include "broker/admin_desk.h"
#include "common/result.h"

namespace skerry::broker {

/// What an operator may set `admin` to: nothing, or an ipc:// path.
Status CheckAdminEndpoint(std::string_view endpoint);

class AdminSocket {
 public:
  /// Questions answered between two looks at clients and workers.
  static constexpr int kQuestionsPerTurn = 4;

  explicit AdminSocket(zmq::context_t& context);

  Status Bind(const std::string& endpoint);
  /// Answers what has come, kQuestionsPerTurn at most.
  void Turn(AdminDesk& desk, TimePoint now);
  zmq::socket_t& socket() { return socket_; }

 private:
  bool AnswerOne(AdminDesk& desk, TimePoint now);

  zmq::socket_t socket_;
};

}  // namespace skerry::broker
