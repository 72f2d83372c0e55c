// CURVE (ZeroMQ RFC 26) on our sockets. Options count for what is bound or connected after they are set, so
// one socket can listen with keys on TCP and without them on ipc://.
//
// Threads: the socket's. Errors: CheckCurve says that this libzmq cannot encrypt; the others throw
// zmq::error_t then, before anything is bound or connected.
#pragma once

#include <string>
#include <zmq.hpp>

#include "common/keys/link_keys.h"
#include "common/result.h"

namespace skerry::curve {

/// A connection that has not finished its handshake in this time is closed.
inline constexpr int kHandshakeMs = 5'000;
/// The largest frame that any side sends or takes: maxResultBytes' hard maximum. A larger one closes the
/// connection.
inline constexpr std::int64_t kMaxFrameBytes = 256ll << 20;

/// Whether this libzmq was built with CURVE. Without it nothing may start that has keys.
Status CheckCurve();

/// What every socket of ours has: bounds on frames and handshakes.
void SetBounds(zmq::socket_t& socket);
/// For the next connect.
void ConnectWith(zmq::socket_t& socket, const keys::LinkKeys& keys);
/// For the next bind: CURVE, and whoever connects is shown to the ZAP handler under `domain`. The handler
/// must be there first: without one libzmq 4.3 lets everybody in (and then tells no User-Id).
void ListenWith(zmq::socket_t& socket, const keys::SecretKey& key, const std::string& domain);
/// For the next bind: plain; shown to the ZAP handler all the same.
void ListenPlainly(zmq::socket_t& socket, const std::string& domain);

}  // namespace skerry::curve
