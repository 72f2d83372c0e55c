#include "clients/cpp/broker_sockets.h"

#include <algorithm>
#include <utility>

#include "clients/cpp/ipc_socket.h"
#include "common/brokers/broker_keys.h"

namespace skerry::client {

void BrokerSockets::Follow(BrokerSpread& spread, TimePoint now) {
  for (auto line = lines_.begin(); line != lines_.end();) {
    if (spread.members().contains(line->first)) {
      ++line;
      continue;
    }
    if (line->second.linked) line->second.dealer->Put({wire::Bye{}, {}});
    line = lines_.erase(line);
  }
  for (const auto& [number, member] : spread.members()) {
    if (lines_.contains(number)) continue;
    Line& line = lines_[number];
    line.endpoint = member.address.endpoint;
    const auto keys = keys::LoadLinkKeys(LinkTo(member.address, options_.key_file, options_.broker_key),
                                         keys::Role::kClient);
    if (!keys) {
      spread.CannotConnect(number, keys.error(), now);
      continue;
    }
    try {
      line.dealer = std::make_unique<Dealer>(context_, line.endpoint, *keys);
    } catch (const zmq::error_t& error) {
      spread.CannotConnect(number, {ErrorKind::kUnavailable, std::string("cannot connect: ") + error.what()},
                           now);
    }
  }
}

bool BrokerSockets::Flush(Line& line, ClientCore& core) {
  if (line.generation != core.generation()) {
    line.generation = core.generation();
    line.pending.clear();
  }
  line.linked = core.link() == LinkState::kLinked;
  for (auto& outgoing : core.TakeSends()) line.pending.push_back(std::move(outgoing));
  while (!line.pending.empty() && line.dealer->Put(line.pending.front()) == PutResult::kSent)
    line.pending.pop_front();
  return !line.pending.empty();
}

bool BrokerSockets::Flush(const BrokerSpread& spread) {
  bool blocked = false;
  for (const auto& [number, member] : spread.members()) {
    const auto line = lines_.find(number);
    if (line != lines_.end() && line->second.dealer && Flush(line->second, *member.core)) blocked = true;
  }
  return blocked;
}

void BrokerSockets::Wait(int wake, Listen listen, Millis patience) {
  const TimePoint now = SteadyClock::now();
  items_.clear();
  items_.push_back({nullptr, wake, ZMQ_POLLIN, 0});
  for (auto& [number, line] : lines_) {
    if (!line.dealer) continue;
    const int events = (listen == Listen::kYes ? ZMQ_POLLIN : 0) | (line.pending.empty() ? 0 : ZMQ_POLLOUT);
    items_.push_back({line.dealer->socket().handle(), 0, static_cast<short>(events), 0});
    items_.push_back({line.dealer->monitor().handle(), 0, ZMQ_POLLIN, 0});
    if (const TimePoint look = line.dealer->NextLook(); look != TimePoint::max())
      patience = std::clamp(std::chrono::ceil<Millis>(look - now), Millis(0), patience);
  }
  // The C call: a signal that lands on this thread is only an early wake.
  zmq_poll(items_.data(), static_cast<int>(items_.size()), patience.count());
  for (auto& [number, line] : lines_) {
    if (line.dealer) line.dealer->LookAtHandshakes(SteadyClock::now());
  }
}

void BrokerSockets::Read(BrokerSpread& spread, int at_most) {
  std::optional<Incoming> incoming;
  for (auto& [number, line] : lines_) {
    for (int taken = 0; line.dealer && taken < at_most && line.dealer->Get(incoming); ++taken) {
      if (!incoming) continue;
      spread.OnMessage(number, std::move(incoming->header), std::move(incoming->payloads),
                       SteadyClock::now());
    }
  }
}

void BrokerSockets::Leave(const BrokerSpread& spread) {
  Flush(spread);
  for (auto& [number, line] : lines_) {
    if (line.dealer && line.linked) line.dealer->Put({wire::Bye{}, {}});
  }
}

std::string BrokerSockets::WhyNobodyAnswers() {
  std::string why;
  for (auto& [number, line] : lines_) {
    why += client::WhyNobodyAnswers(line.endpoint);
    if (line.dealer) why += line.dealer->WhyNotConnected();
  }
  return why;
}

}  // namespace skerry::client
