// A BrokerSpread between a test that plays its brokers and a clock that the test moves.
//
// Threads: one. Ownership: owns the spread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clients/cpp/broker_spread.h"

namespace skerry::client {

using Number = BrokerSpread::Number;
using Texts = std::vector<std::string>;

/// Brokers a, b, ... played by the test, by the letter.
class Spread : public ::testing::Test {
 protected:
  explicit Spread(std::size_t brokers = 2) {
    options_.max_in_flight = 100;
    BrokerDirectory::Change change;
    for (std::size_t i = 0; i < brokers; ++i) change.added.push_back({Name(i), ""});
    spread_.emplace(options_, SessionId("s"), BrokerSpread::Places::kMany, now_);
    spread_->Update(change, {}, now_);
    Pass(Millis(1));
  }
  static std::string Name(std::size_t i) { return std::string(1, static_cast<char>('a' + i)); }
  Number At(const std::string& name) const {
    Number number = 0;
    for (const auto& [known, member] : spread_->members()) {
      if (member.address.endpoint == name) number = known;  // the last of that name
    }
    return number;
  }
  void Hear(const std::string& broker, wire::Header header, Texts payloads = {}) {
    spread_->OnMessage(At(broker), std::move(header), std::move(payloads), now_);
  }
  void Welcome(const std::string& broker, bool resumed = false, std::uint64_t credit = 10) {
    wire::Welcome welcome;
    welcome.credit = credit;
    welcome.heartbeat_ms = 1'000;
    welcome.resumed = resumed;
    welcome.capabilities = {"programs", "reproducible", "turns"};
    Hear(broker, welcome);
  }
  void WelcomeAll() {
    for (const auto& [number, member] : spread_->members()) Welcome(member.address.endpoint);
  }
  void Final(const std::string& broker, const std::string& id) {
    wire::Final final;
    final.id = JobId(id);
    final.ok = true;
    Hear(broker, final, {"1"});
  }
  /// By a broker that has no room (one that names no limit), or as it is said.
  void Refuse(const std::string& broker, const std::string& id, Millis retry_after = Millis(250),
              const std::string& limit = {}) {
    wire::Final final;
    final.id = JobId(id);
    final.code = Code::kOverloaded;
    final.limit = limit;
    final.retry_after_ms = static_cast<std::uint32_t>(retry_after.count());
    Hear(broker, final);
  }
  void CancelledBy(const std::string& broker, const std::string& id) {
    wire::Final final;
    final.id = JobId(id);
    final.code = Code::kCancelled;
    Hear(broker, final);
  }
  static JobRequest Request(const std::string& id, Retry retry = Retry::kSafe) {
    JobRequest request;
    request.spec.id = JobId(id);
    request.spec.retry = retry;
    request.code = "code";
    return request;
  }
  bool Submit(JobRequest request) {
    auto taken = spread_->Submit(request, now_);
    EXPECT_TRUE(taken) << taken.error().message;
    return taken && *taken == SubmitResult::kTaken;
  }
  /// Time passes while all but `silent` go on saying something.
  void Pass(Millis time, const std::string& silent = "") {
    const TimePoint end = now_ + time;
    while (now_ < end) {
      now_ = std::min(now_ + Millis(250), end);
      for (const auto& [number, member] : spread_->members()) {
        if (member.address.endpoint != silent && member.core->link() == LinkState::kLinked)
          spread_->OnMessage(number, wire::Ping{}, {}, now_);
      }
      spread_->OnTick(now_);
    }
  }
  /// What was sent to it since it was asked before.
  template <class Message>
  std::vector<Message> Sent(const std::string& broker) {
    std::vector<Message> found;
    for (const Outgoing& outgoing : spread_->members().at(At(broker)).core->TakeSends()) {
      if (const auto* message = std::get_if<Message>(&outgoing.header)) found.push_back(*message);
    }
    return found;
  }
  Texts Submitted(const std::string& broker) {
    Texts ids;
    for (const auto& submit : Sent<wire::Submit>(broker)) ids.push_back(submit.job.id.str());
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  /// "id" of each that is ok, "id CODE" of the others, and of a cancelled one whether it began.
  Texts Ends() {
    Texts ends;
    for (const ClientEvent& event : spread_->TakeEvents()) {
      if (const auto* final = std::get_if<JobFinal>(&event)) {
        const auto& error = final->outcome.error;
        const bool began = error && error->code == Code::kCancelled && error->started;
        ends.push_back(final->id.str() + (error ? " " + std::string(NameOf(error->code)) : "") +
                       (began ? ", started" : ""));
      }
      if (const auto* failed = std::get_if<LinkFailed>(&event))
        ends.push_back("failed: " + failed->error.message);
    }
    std::sort(ends.begin(), ends.end());
    return ends;
  }

  ClientOptions options_;
  TimePoint now_ = TimePoint() + Millis(1'000'000);
  std::optional<BrokerSpread> spread_;
};

}  // namespace skerry::client
