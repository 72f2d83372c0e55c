// A question to a broker's admin socket, and its answer (schemas/admin.md).
//
//   auto link = AdminLink::Open({"ipc:///run/skerry/admin", "", ""});
//   auto far = AdminLink::Open({"tcp://broker.lan:7003", "admin.key", "rq:rM>}U..."});
//   auto rows = (*link)->All<wire::WorkerRow>(wire::question::kWorkers);
//
// Threads: one. Ownership: owns its socket. Errors: why there is no answer, and what to do; a broker's own
// reason where it says no (kInvalid).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "common/curve/socket_monitor.h"
#include "common/keys/link_keys.h"
#include "common/result.h"
#include "common/units.h"
#include "common/wire/admin.h"
#include "common/wire/admin_codec.h"

namespace skerry::client {

class AdminLink {
 public:
  /// For the first connection, and for each answer: a broker that is busy with a turn of messages answers
  /// within milliseconds.
  static constexpr Millis kPatience{5'000};
  /// For a connection that has been waited for before (it is made between questions, too), and for a broker
  /// that owes the last answer.
  static constexpr Millis kPatienceAgain{200};
  /// More than any broker has pages: a walk that does not end is its fault.
  static constexpr int kMaxPages = 1'000;

  /// Over TCP with a key of role admin. Whether a broker is there the first question tells.
  static Result<std::unique_ptr<AdminLink>> Open(const keys::LinkSettings& at);

  /// One page, or the one row of a question with an id.
  template <class Row>
  Result<std::vector<Row>> Rows(wire::Ask ask, std::string* next = nullptr) {
    auto answer = Put(std::move(ask));
    if (!answer) return Fail(answer.error());
    if (next != nullptr) *next = answer->told.next;
    auto rows = wire::ReadRows<Row>(answer->page, answer->told.rows);
    if (!rows) return Fail(Broken(rows.error().message));
    return rows;
  }
  /// Page after page.
  template <class Row>
  Result<std::vector<Row>> All(std::string_view what) {
    std::vector<Row> all;
    wire::Ask ask;
    ask.what = what;
    for (int page = 0; page < kMaxPages; ++page) {
      auto rows = Rows<Row>(ask, &ask.after);
      if (!rows) return rows;
      std::move(rows->begin(), rows->end(), std::back_inserter(all));
      if (ask.after.empty()) return all;
    }
    return Fail(Broken("its pages have no end"));
  }

  const std::string& endpoint() const { return endpoint_; }

 private:
  struct Answer {
    wire::Told told;
    std::string page;
  };
  AdminLink(const std::string& endpoint, std::optional<keys::LinkKeys> keys);

  Status Connect();
  void Disconnect();
  /// Whether a broker is connected now, or soon.
  bool AwaitBroker();
  Result<Answer> Put(wire::Ask ask);
  /// What has come, for `number`; nothing of use: an empty reason.
  Result<Answer> Take(std::uint64_t number);
  /// Whether that may be done now; not where the time is over, or the broker does not let us in.
  bool Wait(short events, TimePoint until);
  Error NoAnswer() const;
  Error Broken(const std::string& what) const;

  std::string endpoint_;
  const std::optional<keys::LinkKeys> keys_;
  bool connecting_ = false;  // or connected
  TimePoint connect_until_;
  Millis answer_within_ = kPatience;
  std::uint64_t next_number_ = 1;
  zmq::context_t context_;
  zmq::socket_t socket_;
  curve::SocketMonitor monitor_;
  std::string refused_;  // why the broker did not let us in, last
};

}  // namespace skerry::client
