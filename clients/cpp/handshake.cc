#include "clients/cpp/handshake.h"

#include <algorithm>
#include <optional>
#include <string>
#include <zmq.hpp>

#include "common/curve/curve.h"
#include "common/curve/socket_monitor.h"

namespace skerry::client {
namespace {

using curve::SocketEvent;

/// The first event that says how it went; nothing: none has come in time.
std::optional<SocketEvent> AwaitEnd(curve::SocketMonitor& monitor, Millis patience) {
  for (const TimePoint end = SteadyClock::now() + patience;;) {
    if (const auto event = monitor.Next()) return event;
    const auto left = std::chrono::ceil<Millis>(end - SteadyClock::now());
    if (left <= Millis(0)) return std::nullopt;
    zmq_pollitem_t item{monitor.socket().handle(), 0, ZMQ_POLLIN, 0};
    zmq_poll(&item, 1, left.count());
  }
}

}  // namespace

Status TryHandshake(const keys::LinkSettings& at, keys::Role role, Millis patience) {
  const auto keys = keys::LoadLinkKeys(at, role);
  if (!keys) return Fail(keys.error());
  try {
    zmq::context_t context;
    zmq::socket_t dealer(context, zmq::socket_type::dealer);
    dealer.set(zmq::sockopt::linger, 0);
    dealer.set(zmq::sockopt::ipv6, true);
    curve::SetBounds(dealer);
    if (*keys) curve::ConnectWith(dealer, **keys);
    curve::SocketMonitor monitor(context, dealer, curve::kHandshakeFailures | ZMQ_EVENT_HANDSHAKE_SUCCEEDED);
    dealer.connect(at.endpoint);
    const auto end = AwaitEnd(monitor, patience);
    if (!end) return Fail(ErrorKind::kUnavailable, "nobody answers at " + at.endpoint);
    const std::string refused = curve::WhyNoHandshake(*end);
    return refused.empty() ? Status() : Fail(ErrorKind::kUnavailable, refused);
  } catch (const zmq::error_t& error) {
    return Fail(ErrorKind::kUnavailable, "cannot connect to " + at.endpoint + ": " + error.what());
  }
}

}  // namespace skerry::client
