// A ClientCore between a test that plays the broker and a clock that the test moves.
//
// Threads: one. Ownership: owns the core.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "clients/cpp/client_core.h"

namespace skerry::client {

class Core : public ::testing::Test {
 protected:
  explicit Core(ClientOptions options = {}) : core_(options, SessionId("s"), TimePoint()) {}

  static JobRequest Request(const std::string& id, const std::string& code = "code") {
    JobRequest request;
    request.spec.id = JobId(id);
    request.code = code;
    request.input = "1";
    return request;
  }
  SubmitResult Submit(JobRequest request) {
    auto taken = core_.Submit(request, now_);
    EXPECT_TRUE(taken) << taken.error().message;
    return taken.value_or(SubmitResult::kFull);
  }
  SubmitResult Submit(const std::string& id) { return Submit(Request(id)); }
  void Welcome(bool resumed = false, std::uint64_t credit = 1024) {
    wire::Welcome welcome;
    welcome.credit = credit;
    welcome.heartbeat_ms = 1'000;
    welcome.resumed = resumed;
    welcome.capabilities = capabilities_;
    core_.OnMessage(welcome, {}, now_);
  }
  void Final(const std::string& id, bool ok = true, Code code = Code::kRuntime,
             std::uint32_t retry_after_ms = 0) {
    wire::Final final;
    final.id = JobId(id);
    final.ok = ok;
    final.code = code;
    final.retry_after_ms = retry_after_ms;
    core_.OnMessage(final, {ok ? "7" : ""}, now_);
  }
  void Refused(const std::string& id, const std::string& limit, std::uint32_t retry_after_ms) {
    wire::Final final;
    final.id = JobId(id);
    final.code = Code::kRateLimited;
    final.limit = limit;
    final.retry_after_ms = retry_after_ms;
    core_.OnMessage(final, {""}, now_);
  }
  void Event(const std::string& id, std::uint32_t attempt, const std::string& text) {
    wire::Event event;
    event.id = JobId(id);
    event.attempt = attempt;
    core_.OnMessage(event, {text}, now_);
  }
  void Pass(Millis time) {
    now_ += time;
    core_.OnTick(now_);
  }
  template <class Message>
  std::vector<Message> Sent() {
    for (auto& outgoing : core_.TakeSends()) sent_.push_back(std::move(outgoing));
    std::vector<Message> found;
    for (const Outgoing& outgoing : sent_) {
      if (const auto* message = std::get_if<Message>(&outgoing.header)) found.push_back(*message);
    }
    return found;
  }
  void Clear() {
    core_.TakeSends();
    sent_.clear();
  }
  std::vector<ClientEvent> Events() { return core_.TakeEvents(); }

  std::vector<std::string> capabilities_ = {"reproducible", "programs", "turns"};  // of the next WELCOME
  TimePoint now_;
  ClientCore core_;
  std::vector<Outgoing> sent_;
};

}  // namespace skerry::client
