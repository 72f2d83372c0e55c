// The client of a job that nobody sent: hears everything, answers every call.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string_view>

#include "worker/engine/job_port.h"

namespace skerry::engine {

class WarmingPort : public JobPort {
 public:
  void SendEvent(EventType, Level, std::string_view, bool) override {}
  void SendDropped(std::uint64_t) override {}
  void SendTripped(LimitId) override {}
  void SendCall(std::uint32_t call, std::string_view, std::string_view) override { last_call_ = call; }
  HostAnswer AwaitAnswer() override {
    return {last_call_, HostAnswer::Kind::kValue,
            R"({"rows":[{"id":1,"name":"warm","tags":["a","b"]}],"total":1})"};
  }

 private:
  std::uint32_t last_call_ = 0;
};

}  // namespace skerry::engine
