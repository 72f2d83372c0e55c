#include "broker/broker_server.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <sstream>
#include <unordered_set>
#include <utility>
#include <variant>

#include "common/curve/curve.h"
#include "common/descriptors.h"
#include "common/logging.h"
#include "common/wire/codec.h"

namespace skerry::broker {
namespace {

// Messages taken from one socket before the other gets its turn.
constexpr int kMessagesPerTurn = 256;
// Nor more than this, but for the message that passes it: hundreds of the largest would take longer to read
// than a worker hears nothing.
constexpr std::uint64_t kBytesPerTurn = 8u << 20;
// Sends are flushed at least this often inside a turn, so that a turn does not hold its results in memory.
constexpr int kMessagesPerFlush = 32;
// A broker that is busy still shows fresh numbers; an idle one wakes for its heartbeats only.
constexpr Millis kLongestSleep{1'000};

// From when who has lost its key is told so until its connection is closed: the word must get there.
constexpr Millis kFarewell{1'000};

// What is polled, in this order.
enum Item : std::size_t {
  kClients,
  kWorkers,
  kStop,
  kReload,
  kZap,
  kClientWatch,
  kWorkerWatch,
  kAdminWatch,
  kRates,
  kAdmin,
  kItemCount
};
using Items = std::array<zmq::pollitem_t, kItemCount>;

constexpr UnfinishedBounds kUnfinished{Router::kMostUnfinished, Router::kMostUnfinishedTogether};

ConnectionBounds BoundsOf(const DoorOptions& door) {
  // No side may use up the descriptors of another: libzmq ends the process when an ipc endpoint has
  // none left to accept with.
  constexpr std::uint64_t kOwn = 64 + AdminSocket::kMostConnections;
  const std::uint64_t files = RaiseDescriptorLimit();
  ConnectionBounds bounds;
  bounds.fresh = static_cast<std::size_t>(door.max_handshakes);
  bounds.connections = static_cast<std::size_t>(files > 2 * kOwn ? (files - kOwn) / 2 : kOwn / 3);
  bounds.handshake_time = Millis(curve::kHandshakeMs);
  return bounds;
}

/// zmq::poll that takes a stray signal (a debugger's, SIGCONT) for an early wake.
void Wait(Items& items, Millis timeout) {
  try {
    zmq::poll(items, timeout);
  } catch (const zmq::error_t& e) {
    if (e.num() != EINTR) throw;
    for (auto& item : items) item.revents = 0;
  }
}

/// libzmq tells no address of whom it ends the handshake with.
void LogClosed(const char* door, HandshakeRefusal why) {
  log::Warn("a connection ended in its handshake", {{"cause", NameOf(why)}, {"door", door}});
}

}  // namespace

BrokerServer::BrokerServer(const ServerOptions& options)
    : tenants_(options.tenants),
      door_(context_, options.door),
      clients_(context_, Side::kClient),
      workers_(context_, Side::kWorker),
      client_watch_(context_, clients_.socket(), BoundsOf(options.door), kUnfinished),
      worker_watch_(context_, workers_.socket(), BoundsOf(options.door), kUnfinished),
      core_(options.config, SteadyClock::now()),
      desk_(core_, SteadyClock::now()) {}

Status ServerOptions::Validate() const {
  std::string faults;
  const auto note = [&](const Status& status) {
    if (!status) faults += (faults.empty() ? "" : "\n") + status.error().message;
  };
  note(door.Validate(client_endpoints, worker_endpoints, admin_endpoints));
  note(config.Validate());
  if (!tenants.empty()) {
    if (const auto read = Tenants::Read(tenants); !read) note(Fail(read.error()));
  }
  if (faults.empty()) return {};
  return Fail(ErrorKind::kInvalid, std::move(faults));
}

Status BrokerServer::BindAll(Router& router, Side side, const std::vector<std::string>& endpoints) {
  for (const std::string& endpoint : endpoints) {
    if (auto guarded = door_.Guard(router.socket(), side, endpoint); !guarded) return guarded;
    if (auto bound = router.Bind(endpoint); !bound) return bound;
  }
  return {};
}

Status BrokerServer::BindAdmin(const std::vector<std::string>& endpoints) {
  if (endpoints.empty()) return {};
  admin_.emplace(context_, door_);
  for (const std::string& endpoint : endpoints) {
    if (auto bound = admin_->Bind(endpoint); !bound) return bound;
  }
  return {};
}

Result<std::unique_ptr<BrokerServer>> BrokerServer::Start(const ServerOptions& options) {
  if (auto valid = options.Validate(); !valid) return Fail(valid.error());
  std::unique_ptr<BrokerServer> server(new BrokerServer(options));
  if (!options.tenants.empty()) {
    auto tenants = Tenants::Read(options.tenants);
    if (!tenants) return Fail(tenants.error());
    server->core_.SetTenants(std::move(*tenants), SteadyClock::now());
  }
  if (!options.redis.address.empty()) {
    auto rates = SharedRates::Start(options.redis, server->core_);
    if (!rates) return Fail(rates.error());
    server->rates_ = std::move(*rates);
  }
  if (auto open = server->door_.Open(); !open) return Fail(open.error());
  auto bound = server->BindAll(server->clients_, Side::kClient, options.client_endpoints);
  if (bound) bound = server->BindAll(server->workers_, Side::kWorker, options.worker_endpoints);
  if (bound) bound = server->BindAdmin(options.admin_endpoints);
  if (!bound) return Fail(bound.error());
  if (!options.metrics.empty()) {
    auto http = HttpEndpoint::Serve(options.metrics,
                                    {[at = server.get()] { return at->metrics_.Text(); },
                                     [at = server.get()] { return at->health_.Live(SteadyClock::now()); },
                                     [at = server.get()] { return at->health_.Ready(SteadyClock::now()); }});
    if (!http) return Fail(http.error());
    server->http_ = std::move(*http);
  }
  return server;
}

void BrokerServer::ReloadTenants() {
  if (tenants_.empty()) return;
  auto tenants = Tenants::Read(tenants_);
  if (tenants) return core_.SetTenants(std::move(*tenants), SteadyClock::now());
  std::istringstream faults(tenants.error().message);
  for (std::string fault; std::getline(faults, fault);)
    log::Error("tenants are as they were: the file has a fault", {{"fault", fault}});
}

void BrokerServer::Run(int stop_fd, int reload_fd) {
  void* admin = admin_ ? admin_->socket().handle() : nullptr;
  void* admin_watch = admin_ ? admin_->watch().socket().handle() : nullptr;
  Items items = {{{clients_.socket().handle(), 0, ZMQ_POLLIN, 0},
                  {workers_.socket().handle(), 0, ZMQ_POLLIN, 0},
                  {nullptr, stop_fd, ZMQ_POLLIN, 0},
                  // An item with neither socket nor descriptor would be a fault: what there is none of is the
                  // stop again.
                  {nullptr, reload_fd < 0 ? stop_fd : reload_fd, ZMQ_POLLIN, 0},
                  {door_.socket().handle(), 0, ZMQ_POLLIN, 0},
                  {client_watch_.socket().handle(), 0, ZMQ_POLLIN, 0},
                  {worker_watch_.socket().handle(), 0, ZMQ_POLLIN, 0},
                  {admin_watch, stop_fd, ZMQ_POLLIN, 0},
                  {nullptr, rates_ ? rates_->fd() : stop_fd, ZMQ_POLLIN, 0},
                  {admin, stop_fd, ZMQ_POLLIN, 0}}};
  const auto ready = [&](Item item) { return (items[item].revents & ZMQ_POLLIN) != 0; };
  ShowState(SteadyClock::now());
  for (;;) {
    // Clients wait while their messages would find no room: else the loop would spin.
    items[kClients].events = HasRoom() ? ZMQ_POLLIN : 0;
    const auto until_wake = std::chrono::ceil<Millis>(NextWake() - SteadyClock::now());
    Wait(items, std::clamp(until_wake, Millis(0), kLongestSleep));
    if (ready(kStop)) {
      core_.OnStop();
      Flush();
      return health_.Beat(SteadyClock::now(), Readiness::kStopping);
    }
    if (ready(kReload)) Reload(reload_fd);
    // After a look each socket is read, whether or not it said that there is something.
    const bool look = SteadyClock::now() >= NextLook();
    if (ready(kZap) || ready(kClientWatch) || ready(kWorkerWatch) || ready(kAdminWatch) || look) ServeDoor();
    // Workers first: finals free slots and memory before more work comes in.
    if (look || ready(kWorkers)) Drain(workers_);
    if (look || ready(kClients)) Drain(clients_);
    if (admin_ && (look || ready(kAdmin)))
      admin_->Turn(
          desk_, [this] { core_.OnUnheard(); }, SteadyClock::now());
    const TimePoint now = SteadyClock::now();
    if (rates_) rates_->Turn(now);
    if (now >= core_.NextWake()) core_.OnTick(now);
    Flush();
    ShowState(now);
  }
}

TimePoint BrokerServer::NextLook() const {
  const TimePoint admin = admin_ ? admin_->watch().NextLook() : TimePoint::max();
  return std::min({client_watch_.NextLook(), worker_watch_.NextLook(), admin, hang_up_at_});
}

void BrokerServer::ServeDoor() {
  const auto closed_at = [this](const char* door) {
    return [this, door](HandshakeRefusal why) {
      LogClosed(door, why);
      core_.OnHandshakeRefused(why);
    };
  };
  const TimePoint now = SteadyClock::now();
  door_.Serve([this](HandshakeRefusal why) { core_.OnHandshakeRefused(why); });  // and logs, with the key
  client_watch_.Serve(closed_at("clients"), now);
  worker_watch_.Serve(closed_at("workers"), now);
  if (admin_) admin_->watch().Serve(closed_at("admins"), now);
  if (now < hang_up_at_) return;
  hang_up_at_ = TimePoint::max();
  for (ConnectionWatch* watch : {&client_watch_, &worker_watch_}) watch->HangUp(Authorized());
  if (admin_) admin_->watch().HangUp(Authorized());
}

std::function<bool(const Identity&)> BrokerServer::Authorized() const {
  return [this](const Identity& who) { return door_.authorized().Allows(who); };
}

void BrokerServer::Reload(int reload_fd) {
  signalfd_siginfo signal{};
  (void)!read(reload_fd, &signal, sizeof signal);
  ReloadTenants();
  ReloadKeys();
}

void BrokerServer::ReloadKeys() {
  if (!door_.has_keys()) return;
  if (auto status = door_.Reload(); !status) {
    log::Error("who may connect is as it was: the list is not taken", {{"reason", status.error().message}});
    return;
  }
  const TimePoint now = SteadyClock::now();
  core_.OnKeysChanged(Authorized(), now);
  hang_up_at_ = now + kFarewell;
}

bool BrokerServer::HasRoom() const {
  return rates_ == nullptr || rates_->HasRoom();
}

TimePoint BrokerServer::NextWake() const {
  const TimePoint own = std::min(core_.NextWake(), NextLook());
  const auto rates = rates_ ? rates_->NextWake() : std::nullopt;
  return rates ? std::min(*rates, own) : own;
}

void BrokerServer::Drain(Router& router) {
  std::uint64_t bytes = 0;
  for (int taken = 0; taken < kMessagesPerTurn && bytes < kBytesPerTurn; ++taken) {
    if (&router == &clients_ && !HasRoom()) break;
    auto received = router.Get();
    if (!received) {
      WatchOf(&router == &clients_ ? Side::kClient : Side::kWorker).OnReadToEnd();
      break;
    }
    bytes += BytesOf(received->payloads);
    Feed(std::move(*received));
    if (taken % kMessagesPerFlush == kMessagesPerFlush - 1) Flush();
  }
  Flush();
}

void BrokerServer::Feed(Received received) {
  const TimePoint now = SteadyClock::now();
  ConnectionWatch& watch = WatchOf(received.from.side);
  watch.OnDelivered(received.header);
  if (received.frames > Router::kMostFrames) watch.EndFlood(received.header);
  auto proof = door_.Identify(received.header);
  if (!proof) return core_.OnUnheard();  // its key was revoked after it came in, and it has been told
  received.from.proof = std::move(*proof);
  if (!received.well_formed) return core_.OnMalformed(received.from, "wrong number of frames", now);
  auto header = wire::Decode({received.header.data<char>(), received.header.size()});
  if (!header && header.error().kind == ErrorKind::kUnknownType) {
    return core_.OnUnknownType(received.from, now);
  }
  if (!header) return core_.OnMalformed(received.from, header.error().message, now);
  if (std::holds_alternative<wire::Hello>(*header)) watch.OnSpoke(received.header, received.from.proof);
  if (rates_ && rates_->Hold(received.from, *header, received.payloads, now)) return;
  core_.OnMessage(received.from, std::move(*header), std::move(received.payloads), now);
}

void BrokerServer::Flush() {
  // Once one message to a peer was not taken, none behind it may be: the queue may have room again by then,
  // and the peer would see a gap.
  std::unordered_set<Peer> unreachable;
  // An undeliverable message may make the core send others: until nothing is left.
  for (auto sends = core_.TakeSends(); !sends.empty(); sends = core_.TakeSends()) {
    for (Send& send : sends) {
      Router& router = send.peer.side == Side::kClient ? clients_ : workers_;
      if (!unreachable.contains(send.peer) && router.Put(send) == PutResult::kSent) continue;
      unreachable.insert(send.peer);
      core_.OnUndeliverable(std::move(send), SteadyClock::now());
    }
  }
}

void BrokerServer::ShowState(TimePoint now) {
  if (http_ == nullptr) return;
  const BrokerGauges gauges = core_.gauges();
  metrics_.Show(core_.counters(), gauges);
  health_.Beat(now, ReadinessOf(gauges.workers));
}

}  // namespace skerry::broker
