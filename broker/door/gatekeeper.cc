#include "broker/door/gatekeeper.h"

#include <utility>
#include <vector>

#include "common/curve/curve.h"
#include "common/keys/key_file.h"
#include "common/logging.h"

namespace skerry::broker {
namespace {

// Where libzmq asks (RFC 27).
constexpr const char* kZapEndpoint = "inproc://zeromq.zap.01";
// What its answers name the peer, told with each of its messages. libzmq's own name for it is a draft.
constexpr const char* kUserId = "User-Id";
// What the protocol sends; more is not kept.
constexpr std::size_t kMaxZapFrames = 16;

std::optional<std::vector<std::string>> ReceiveAll(zmq::socket_t& socket) {
  std::vector<std::string> frames;
  zmq::message_t frame;
  if (!socket.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
  for (;;) {
    if (frames.size() < kMaxZapFrames) frames.push_back(frame.to_string());
    if (!frame.more()) return frames;
    (void)socket.recv(frame);
  }
}

void SendAll(zmq::socket_t& socket, const std::vector<std::string>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
    (void)socket.send(zmq::buffer(frames[i]), more | zmq::send_flags::dontwait);
  }
}

struct DoorFiles {
  keys::KeyFile key;
  AuthorizedKeys authorized;
};

Result<DoorFiles> ReadDoorFiles(const DoorOptions& options) {
  auto key = keys::ReadKeyFile(options.key_file, keys::Role::kBroker);
  auto authorized = AuthorizedKeys::Load(options.authorized_file);
  if (key && authorized) return DoorFiles{std::move(*key), std::move(*authorized)};
  std::string faults;
  if (!key) faults = "key: " + key.error().message;
  if (!authorized) faults += (faults.empty() ? "" : "\n") + ("authorized: " + authorized.error().message);
  return Fail(ErrorKind::kInvalid, faults);
}

void LogRefused(const ZapRequest& request, const ZapVerdict& verdict) {
  log::Warn("a connection was not let in", {{"cause", NameOf(*verdict.refused)},
                                            {"door", request.domain},
                                            {"address", request.address},
                                            {"key", verdict.user}});
}

}  // namespace

Status CheckDoorFiles(const DoorOptions& options) {
  if (!options.has_keys()) return {};
  const auto files = ReadDoorFiles(options);
  return files ? Status() : Fail(files.error());
}

Gatekeeper::Gatekeeper(zmq::context_t& context, DoorOptions options)
    : options_(std::move(options)), zap_(context, zmq::socket_type::rep) {
  zap_.set(zmq::sockopt::linger, 0);
}

Status Gatekeeper::Open() {
  if (auto able = curve::CheckCurve(); !able) return able;
  if (!options_.has_keys()) return {};
  auto files = ReadDoorFiles(options_);
  if (!files) return Fail(files.error());
  authorized_ = std::move(files->authorized);
  secret_ = std::move(files->key.secret);
  zap_.bind(kZapEndpoint);
  log::Info("TCP endpoints are encrypted", {{"brokerKey", secret_->Public().text()},
                                            {"authorized", authorized_.size()},
                                            {"revoked", authorized_.revoked()}});
  if (authorized_.size() == 0) {
    log::Warn(
        "the list of who may connect names nobody: until it does and is read again (SIGHUP) none gets in",
        {{"list", options_.authorized_file}});
  }
  return {};
}

Status Gatekeeper::Guard(zmq::socket_t& socket, Side side, const std::string& endpoint) {
  if (auto allowed = options_.Check(endpoint); !allowed) return allowed;
  if (!has_keys()) return {};
  if (ReachOf(endpoint) == Reach::kSocketFile) {
    curve::ListenPlainly(socket, DomainOf(PlainDoor(side)));
  } else {
    curve::ListenWith(socket, *secret_, DomainOf(DoorWithKeys(side)));
  }
  return {};
}

void Gatekeeper::Serve(const std::function<void(HandshakeRefusal)>& refused) {
  while (const auto frames = ReceiveAll(zap_)) {
    const auto request = ReadZapRequest(*frames);
    if (!request) {
      SendAll(zap_, {""});  // no reply at all would leave the next question unasked
      continue;
    }
    const ZapVerdict verdict = Judge(*request, authorized_);
    SendAll(zap_, ZapReply(*request, verdict));
    if (!verdict.refused) continue;
    LogRefused(*request, verdict);
    refused(*verdict.refused);
  }
}

Status Gatekeeper::Reload() {
  if (!has_keys()) return Fail(ErrorKind::kInvalid, "there is nothing to read again: no keys are configured");
  auto fresh = AuthorizedKeys::Load(options_.authorized_file);
  if (!fresh) return Fail(fresh.error());
  if (auto may = fresh->MayFollow(authorized_); !may)
    return Fail(ErrorKind::kInvalid, options_.authorized_file + ": " + may.error().message);
  authorized_ = std::move(*fresh);
  log::Info("read again who may connect",
            {{"authorized", authorized_.size()}, {"revoked", authorized_.revoked()}});
  return {};
}

std::optional<Proof> Gatekeeper::Identify(zmq::message_t& frame) const {
  if (!has_keys()) return Proof();
  const char* user = zmq_msg_gets(frame.handle(), kUserId);
  if (user == nullptr) return std::nullopt;
  const std::string key = user;
  if (key == kPlainUser) return Proof();
  Proof owner = authorized_.Find(key);
  if (owner == nullptr) return std::nullopt;
  return owner;
}

}  // namespace skerry::broker
