// The client of a program that is evaluated to be kept: it must say nothing, and is ended when it does.
//
// Threads: one.
#pragma once

#include <v8-isolate.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "worker/engine/job_port.h"
#include "worker/engine/unkeepable.h"

namespace skerry::engine {

class KeepingPort : public JobPort {
 public:
  void SendEvent(EventType, Level, std::string_view, bool) override { Note(Unkeepable::kReports); }
  void SendDropped(std::uint64_t) override { Note(Unkeepable::kReports); }
  void SendTripped(LimitId limit) override {
    const bool of_calls = limit == LimitId::kMaxDataRequests || limit == LimitId::kMaxParamsBytes;
    Note(of_calls ? Unkeepable::kCallsHost : Unkeepable::kReports);
  }
  void SendCall(std::uint32_t, std::string_view, std::string_view) override { Note(Unkeepable::kCallsHost); }
  HostAnswer AwaitAnswer() override { return {}; }  // of a call that was sent: nobody waits for it

  /// What it said first.
  std::optional<Unkeepable> said() const { return said_; }

 private:
  void Note(Unkeepable reason) {
    if (!said_) said_ = reason;
    v8::Isolate::GetCurrent()->TerminateExecution();
  }

  std::optional<Unkeepable> said_;
};

}  // namespace skerry::engine
