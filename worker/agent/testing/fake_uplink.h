// An Uplink that keeps what is sent.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "worker/agent/link/uplink.h"

namespace skerry::agent {

class FakeUplink final : public Uplink {
 public:
  bool Send(wire::Header header, std::vector<std::string> payloads) override {
    if (drop_events && std::holds_alternative<wire::Event>(header)) return false;
    sent.emplace_back(std::move(header), std::move(payloads));
    if (on_send) on_send(sent.back().first);
    return true;
  }
  template <class Message>
  std::vector<std::pair<Message, std::vector<std::string>>> All() const {
    std::vector<std::pair<Message, std::vector<std::string>>> all;
    for (const auto& [header, payloads] : sent) {
      if (const auto* message = std::get_if<Message>(&header)) all.emplace_back(*message, payloads);
    }
    return all;
  }

  std::vector<std::pair<wire::Header, std::vector<std::string>>> sent;
  std::function<void(const wire::Header&)> on_send;
  bool drop_events = false;
};

}  // namespace skerry::agent
