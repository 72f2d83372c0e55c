#include "worker/agent/link/broker_link.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <zmq.hpp>

#include "common/curve/curve.h"
#include "common/curve/socket_monitor.h"
#include "common/logging.h"
#include "common/wire/codec.h"
#include "common/wire/negotiate.h"

namespace skerry::agent {
namespace {

constexpr int kHighWaterMark = 10'000;  // messages; beyond it they wait here
constexpr int kMessagesPerWake = 64;    // then the isolates have their turn
// A PING follows this much, or so many messages, so that little is kept for long.
constexpr std::size_t kBytesPerMark = 4u << 20;
constexpr std::size_t kMessagesPerMark = 256;
constexpr std::uint64_t kLongestLeaseMs = 86'400'000;
// An outage ends when packets pass again, not when TCP tries again: its pauses double, and after 15 s of
// outage the next may be 10 s away. So a connection whose peer confirms nothing for so long is given up,
// ZeroMQ makes another, and each try of that is short.
constexpr int kUnconfirmedMs = 5'000;
constexpr int kConnectMs = 2'000;
constexpr std::size_t kMaxFrames = 1 + wire::kMaxPayloads;

}  // namespace

struct BrokerLink::Socket {
  /// One I/O thread serves the links to all brokers. It ends with the last of them, once what they had to say
  /// has left.
  static std::shared_ptr<zmq::context_t> SharedContext() {
    static std::weak_ptr<zmq::context_t> shared;
    auto context = shared.lock();
    if (!context) shared = context = std::make_shared<zmq::context_t>(1);
    return context;
  }

  std::shared_ptr<zmq::context_t> context = SharedContext();
  zmq::socket_t dealer{*context, zmq::socket_type::dealer};

  std::optional<curve::SocketMonitor> monitor;  // after what it watches

  void Connect(const std::string& url, const std::optional<keys::LinkKeys>& keys) {
    monitor.reset();
    dealer = zmq::socket_t(*context, zmq::socket_type::dealer);
    dealer.set(zmq::sockopt::linger, 0);
    dealer.set(zmq::sockopt::sndhwm, kHighWaterMark);
    dealer.set(zmq::sockopt::rcvhwm, kHighWaterMark);
    curve::SetBounds(dealer);
    dealer.set(zmq::sockopt::ipv6, true);
    dealer.set(zmq::sockopt::reconnect_ivl, 50);
    dealer.set(zmq::sockopt::reconnect_ivl_max, 2'000);
    dealer.set(zmq::sockopt::connect_timeout, kConnectMs);
    dealer.set(zmq::sockopt::tcp_maxrt, kUnconfirmedMs);
    if (keys) curve::ConnectWith(dealer, *keys);
    monitor.emplace(*context, dealer, curve::kHandshakeFailures);
    dealer.connect(url);
  }
  /// What the last handshake that failed says of why; nothing: none has since.
  std::string TakeFailure() {
    std::string why;
    while (const auto event = monitor->Next()) why = curve::WhyNoHandshake(*event);
    return why;
  }
};

std::size_t BrokerLink::Outgoing::Bytes() const {
  std::size_t bytes = header.size();
  for (const std::string& payload : payloads) bytes += payload.size();
  return bytes;
}

BrokerLink::BrokerLink(EventLoop& loop, LinkListener& listener, keys::LinkSettings at,
                       std::function<wire::Hello()> hello)
    : loop_(loop),
      listener_(listener),
      at_(std::move(at)),
      hello_(std::move(hello)),
      socket_(std::make_unique<Socket>()),
      state_(loop.Now()) {}

BrokerLink::~BrokerLink() {
  *alive_ = false;
  watch_.Reset();
  handshakes_.Reset();
}

Status BrokerLink::Open() {
  const auto keys = keys::LoadLinkKeys(at_, keys::Role::kWorker);
  if (!keys) return Fail(keys.error());
  try {
    watch_.Reset();
    handshakes_.Reset();
    reopen_at_.reset();
    socket_->Connect(at_.endpoint, *keys);
    watch_ = loop_.OnReadable(socket_->dealer.get(zmq::sockopt::fd), [this] { Service(); });
    handshakes_ =
        loop_.OnReadable(socket_->monitor->socket().get(zmq::sockopt::fd), [this] { LookAtHandshakes(); });
  } catch (const zmq::error_t& error) {
    return Fail(ErrorKind::kInvalid, "cannot connect to " + at_.endpoint + ": " + error.what());
  }
  state_.OnReopened(loop_.Now());
  barriers_.clear();
  TakeBackUnconfirmed();
  Outgoing hello;
  hello.header = wire::Encode(hello_());
  SendNow(hello);  // an empty queue takes it
  ServiceSoon();
  Tick();
  return {};
}

bool BrokerLink::Send(wire::Header header, std::vector<std::string> payloads) {
  const bool event = std::holds_alternative<wire::Event>(header);
  Outgoing message;
  message.about_job = wire::SetSeq(header, seq_ + 1);
  if (const auto* final = std::get_if<wire::Final>(&header)) message.final_of = final->lease;
  message.header = wire::Encode(header);
  message.payloads = std::move(payloads);
  // One that is dropped takes no number with it.
  if (event && waiting_bytes_ + unconfirmed_bytes_ + message.Bytes() > kMaxWaitingBytes) return false;
  if (message.about_job) ++seq_;
  const bool sent = waiting_.empty() && state_.connected() && SendNow(message);
  if (!sent) {
    waiting_bytes_ += message.Bytes();
    waiting_.push_back(std::move(message));
  }
  ServiceSoon();
  return true;
}

// One message is all or nothing: ZeroMQ refuses the first frame or takes them all.
bool BrokerLink::SendNow(Outgoing& message) {
  using zmq::send_flags;
  try {
    const std::size_t payloads = message.payloads.size();
    const auto flags = [](bool more) {
      return more ? send_flags::dontwait | send_flags::sndmore : send_flags::dontwait;
    };
    if (!socket_->dealer.send(zmq::buffer(message.header), flags(payloads > 0))) return false;
    for (std::size_t i = 0; i < payloads; ++i) {
      (void)socket_->dealer.send(zmq::buffer(message.payloads[i]), flags(i + 1 < payloads));
    }
    if (message.about_job) {
      unmarked_bytes_ += message.Bytes();
      unconfirmed_bytes_ += message.Bytes();
      message.ping = pings_ + 1;
      unconfirmed_.push_back(std::move(message));
      const std::size_t marked = unconfirmed_.size() % kMessagesPerMark;
      if (unmarked_bytes_ >= kBytesPerMark || marked == 0) SendPing();
    }
    return true;
  } catch (const zmq::error_t& error) {
    log::Error("sending to the broker failed", {{"reason", error.what()}});
    return false;
  }
}

void BrokerLink::FlushWaiting() {
  while (!waiting_.empty() && state_.connected()) {
    // Out of the queue first: what it has sent may be followed by a PING of our own.
    Outgoing message = std::move(waiting_.front());
    waiting_.pop_front();
    const std::size_t bytes = message.Bytes();
    if (!SendNow(message)) return waiting_.push_front(std::move(message));
    waiting_bytes_ -= bytes;
  }
}

// The descriptor of a ZeroMQ socket only signals changes of its state, and any call may have consumed that
// signal: after each send or receive the state has to be looked at again.
void BrokerLink::ServiceSoon() {
  if (std::exchange(service_posted_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    service_posted_ = false;
    Service();
  });
}

void BrokerLink::Service() {
  if (state_.state() == LinkState::State::kClosed) return;
  for (int handled = 0; handled < kMessagesPerWake; ++handled) {
    const int events = socket_->dealer.get(zmq::sockopt::events);
    if ((events & ZMQ_POLLOUT) != 0) FlushWaiting();
    if ((events & ZMQ_POLLIN) == 0) return;
    if (!ReceiveOne() || state_.state() == LinkState::State::kClosed) return;
  }
  ServiceSoon();
}

bool BrokerLink::ReceiveOne() {
  std::vector<std::string> frames;
  bool fits = true;
  try {
    for (bool more = true; more;) {
      zmq::message_t frame;
      if (!socket_->dealer.recv(frame, zmq::recv_flags::dontwait)) return false;
      more = frame.more();
      fits = fits && frames.size() < kMaxFrames;
      if (fits) frames.push_back(frame.to_string());
    }
  } catch (const zmq::error_t& error) {
    log::Error("receiving from the broker failed", {{"reason", error.what()}});
    return false;
  }
  if (fits) {
    Handle(std::move(frames));
  } else {
    log::Warn("the broker sent a message of more frames than any has");
  }
  return true;
}

void BrokerLink::Handle(std::vector<std::string> frames) {
  auto header = wire::Decode(frames[0]);
  if (!header) return log::Warn("the broker sent what is no message", {{"reason", header.error().message}});
  const TimePoint now = loop_.Now();
  state_.OnAnything(now);
  if (const auto* welcome = std::get_if<wire::Welcome>(&*header)) return OnWelcome(*welcome);
  if (const auto* refuse = std::get_if<wire::Refuse>(&*header)) {
    state_.OnClosed();
    return listener_.OnRefused(refuse->reason);
  }
  if (std::holds_alternative<wire::Ping>(*header)) {
    Send(wire::Pong{std::get<wire::Ping>(*header).number}, {});
    return;
  }
  if (const auto* pong = std::get_if<wire::Pong>(&*header)) return OnPong(*pong);
  if (std::holds_alternative<wire::Bye>(*header)) {
    log::Info("the broker says goodbye; waiting for it to come back");
    // Not from inside the receiving of its last message.
    return loop_.Post([this, alive = alive_] {
      if (*alive && state_.state() != LinkState::State::kClosed) Reopen();
    });
  }
  frames.erase(frames.begin());
  listener_.OnMessage(std::move(*header), std::move(frames));
}

void BrokerLink::OnWelcome(const wire::Welcome& welcome) {
  const auto agreed = wire::CheckAgreed({wire::kOldestVersion, wire::kVersion}, welcome.version, "worker");
  if (!agreed) {
    Outgoing bye;
    bye.header = wire::Encode(wire::Bye{});
    SendNow(bye);
    state_.OnClosed();
    return listener_.OnRefused(agreed.error().message);
  }
  const TimePoint now = loop_.Now();
  trouble_.OnSuccess();
  state_.OnWelcome(now, Millis(std::min<std::uint64_t>(welcome.heartbeat_ms, 60'000)),
                   Millis(std::min<std::uint64_t>(welcome.session_ttl_ms, kLongestLeaseMs)));
  log::Info("connected to the broker", {{"broker", at_.endpoint}});
  const auto memory = welcome.resumed ? LinkListener::Memory::kResumed : LinkListener::Memory::kForgotten;
  if (memory == LinkListener::Memory::kForgotten) ForgetJobs();
  listener_.OnWelcome(welcome, memory);
  FlushWaiting();
}

void BrokerLink::TakeBackUnconfirmed() {
  while (!unconfirmed_.empty()) {
    waiting_bytes_ += unconfirmed_.back().Bytes();
    waiting_.push_front(std::move(unconfirmed_.back()));
    unconfirmed_.pop_back();
  }
  unmarked_bytes_ = unconfirmed_bytes_ = 0;
}

void BrokerLink::ForgetJobs() {
  unconfirmed_bytes_ = 0;
  unconfirmed_.clear();
  std::erase_if(waiting_, [&](const Outgoing& message) {
    if (message.about_job) waiting_bytes_ -= message.Bytes();
    return message.about_job;
  });
}

std::vector<LeaseId> BrokerLink::UnconfirmedFinals() const {
  std::vector<LeaseId> leases;
  for (const auto* queue : {&unconfirmed_, &waiting_}) {
    for (const Outgoing& message : *queue) {
      if (message.final_of != LeaseId()) leases.push_back(message.final_of);
    }
  }
  return leases;
}

void BrokerLink::SendPing() {
  ++pings_;
  unmarked_bytes_ = 0;
  Send(wire::Ping{pings_}, {});
}

void BrokerLink::Barrier(std::function<void()> done) {
  SendPing();
  barriers_.emplace_back(pings_, std::move(done));
}

void BrokerLink::OnPong(const wire::Pong& pong) {
  if (pong.number > pings_) return log::Warn("the broker answers a PING that was not sent");
  while (!unconfirmed_.empty() && unconfirmed_.front().ping <= pong.number) {
    unconfirmed_bytes_ -= unconfirmed_.front().Bytes();
    unconfirmed_.pop_front();
  }
  while (!barriers_.empty() && barriers_.front().first <= pong.number) {
    const auto done = std::move(barriers_.front().second);
    barriers_.pop_front();
    done();
  }
}

void BrokerLink::LookAtHandshakes() {
  const std::string why = socket_->TakeFailure();
  // What fails after the end of the connection below was under way before it.
  if (why.empty() || reopen_at_) return;
  const TimePoint now = loop_.Now();
  const auto next = trouble_.OnFailure(now);
  if (next.tell) {
    log::Warn("no link to the broker: it is tried again, and this said again in a while",
              {{"broker", at_.endpoint}, {"failures", next.failures}, {"reason", why}});
  }
  // The HELLO that waits in the socket goes with it; the next connection has its own.
  if (next.pause > Millis(0) && zmq_disconnect(socket_->dealer.handle(), at_.endpoint.c_str()) == 0)
    reopen_at_ = now + next.pause;
}

void BrokerLink::Tick() {
  LookAtHandshakes();
  if (state_.TakeCutOff(loop_.Now())) listener_.OnCutOff();
  if (reopen_at_ && loop_.Now() >= *reopen_at_) return Reopen();
  const LinkState::Action action = state_.Tick(loop_.Now());
  if (action == LinkState::Action::kReopen) {
    log::Warn(state_.ever_connected() ? LogText("the broker has been silent; connecting again")
                                      : LogText("no broker has answered yet; still looking for it"),
              {{"broker", at_.endpoint}, {"silentMs", state_.patience().count()}});
    return Reopen();
  }
  if (action == LinkState::Action::kPing) SendPing();
  if (state_.state() != LinkState::State::kClosed)
    tick_ = loop_.After(state_.heartbeat() / 2, [this] { Tick(); });
}

void BrokerLink::Reopen() {
  if (auto status = Open(); !status) {
    log::Error("connecting to the broker failed", {{"reason", status.error().message}});
    state_.OnReopened(loop_.Now());
    tick_ = loop_.After(state_.heartbeat(), [this] { Tick(); });
  }
}

void BrokerLink::Close(Millis patience) {
  if (state_.state() != LinkState::State::kClosed) {
    FlushWaiting();
    Outgoing bye;
    bye.header = wire::Encode(wire::Bye{});
    if (waiting_.empty()) SendNow(bye);
    if (!waiting_.empty()) log::Warn("messages to the broker are lost", {{"messages", waiting_.size()}});
  }
  state_.OnClosed();
  tick_.Cancel();
  watch_.Reset();
  handshakes_.Reset();
  socket_->dealer.set(zmq::sockopt::linger, static_cast<int>(patience.count()));
  socket_->dealer.close();
}

}  // namespace skerry::agent
