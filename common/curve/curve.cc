#include "common/curve/curve.h"

namespace skerry::curve {

Status CheckCurve() {
  if (zmq_has("curve") == 1) return {};
  return Fail(ErrorKind::kUnavailable,
              "this machine's libzmq was built without CURVE, so that nothing could be encrypted: install "
              "Debian's libzmq5");
}

void SetBounds(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::maxmsgsize, kMaxFrameBytes);
  socket.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
}

void ConnectWith(zmq::socket_t& socket, const keys::LinkKeys& keys) {
  socket.set(zmq::sockopt::curve_serverkey, keys.broker.text());
  socket.set(zmq::sockopt::curve_publickey, keys.own.secret.Public().text());
  socket.set(zmq::sockopt::curve_secretkey, keys.own.secret.text());
}

void ListenWith(zmq::socket_t& socket, const keys::SecretKey& key, const std::string& domain) {
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, key.text());
  socket.set(zmq::sockopt::zap_domain, domain);
}

void ListenPlainly(zmq::socket_t& socket, const std::string& domain) {
  socket.set(zmq::sockopt::curve_server, false);
  socket.set(zmq::sockopt::zap_domain, domain);
}

}  // namespace skerry::curve
