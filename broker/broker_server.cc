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

#include "common/logging.h"
#include "common/wire/codec.h"

namespace skerry::broker {
namespace {

// Messages taken from one socket before the other gets its turn.
constexpr int kMessagesPerTurn = 256;
// Sends are flushed at least this often inside a turn, so that a turn does not hold its results in memory.
constexpr int kMessagesPerFlush = 32;
// A broker that is busy still shows fresh numbers; an idle one wakes for its heartbeats only.
constexpr Millis kLongestSleep{1'000};

/// zmq::poll that takes a stray signal (a debugger's, SIGCONT) for an early wake.
void Wait(std::array<zmq::pollitem_t, 4>& items, Millis timeout) {
  try {
    zmq::poll(items, timeout);
  } catch (const zmq::error_t& e) {
    if (e.num() != EINTR) throw;
    for (auto& item : items) item.revents = 0;
  }
}

}  // namespace

BrokerServer::BrokerServer(const ServerOptions& options)
    : tenants_(options.tenants),
      clients_(context_, Side::kClient),
      workers_(context_, Side::kWorker),
      core_(options.config, SteadyClock::now()) {}

Result<std::unique_ptr<BrokerServer>> BrokerServer::Start(const ServerOptions& options) {
  if (auto valid = options.config.Validate(); !valid) return Fail(valid.error());
  std::unique_ptr<BrokerServer> server(new BrokerServer(options));
  if (!options.tenants.empty()) {
    auto tenants = Tenants::Read(options.tenants);
    if (!tenants) return Fail(tenants.error());
    server->core_.SetTenants(std::move(*tenants), SteadyClock::now());
  }
  for (const std::string& endpoint : options.client_endpoints) {
    if (auto bound = server->clients_.Bind(endpoint); !bound) return Fail(bound.error());
  }
  for (const std::string& endpoint : options.worker_endpoints) {
    if (auto bound = server->workers_.Bind(endpoint); !bound) return Fail(bound.error());
  }
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
  auto tenants = Tenants::Read(tenants_);
  if (tenants) return core_.SetTenants(std::move(*tenants), SteadyClock::now());
  std::istringstream faults(tenants.error().message);
  for (std::string fault; std::getline(faults, fault);)
    log::Error("tenants are as they were: the file has a fault", {{"fault", fault}});
}

void BrokerServer::Run(int stop_fd, int reload_fd) {
  // An item with neither socket nor descriptor would be a fault: without a reload the stop is there twice.
  std::array<zmq::pollitem_t, 4> items = {{{clients_.socket().handle(), 0, ZMQ_POLLIN, 0},
                                           {workers_.socket().handle(), 0, ZMQ_POLLIN, 0},
                                           {nullptr, stop_fd, ZMQ_POLLIN, 0},
                                           {nullptr, reload_fd < 0 ? stop_fd : reload_fd, ZMQ_POLLIN, 0}}};
  ShowState(SteadyClock::now());
  for (;;) {
    const auto until_wake = std::chrono::ceil<Millis>(core_.NextWake() - SteadyClock::now());
    Wait(items, std::clamp(until_wake, Millis(0), kLongestSleep));
    if ((items[2].revents & ZMQ_POLLIN) != 0) return health_.Beat(SteadyClock::now(), Readiness::kStopping);
    if (reload_fd >= 0 && (items[3].revents & ZMQ_POLLIN) != 0) {
      signalfd_siginfo signal{};
      if (read(reload_fd, &signal, sizeof(signal)) > 0) ReloadTenants();
    }
    // Workers first: finals free slots and memory before more work comes in.
    if ((items[1].revents & ZMQ_POLLIN) != 0) Drain(workers_);
    if ((items[0].revents & ZMQ_POLLIN) != 0) Drain(clients_);
    const TimePoint now = SteadyClock::now();
    if (now >= core_.NextWake()) core_.OnTick(now);
    Flush();
    ShowState(now);
  }
}

void BrokerServer::Drain(Router& router) {
  for (int taken = 0; taken < kMessagesPerTurn; ++taken) {
    auto received = router.Get();
    if (!received) break;
    Feed(std::move(*received));
    if (taken % kMessagesPerFlush == kMessagesPerFlush - 1) Flush();
  }
  Flush();
}

void BrokerServer::Feed(Received received) {
  const TimePoint now = SteadyClock::now();
  if (!received.well_formed) return core_.OnMalformed(received.from, "wrong number of frames", now);
  auto header = wire::Decode({received.header.data<char>(), received.header.size()});
  if (!header && header.error().kind == ErrorKind::kUnknownType) {
    return core_.OnUnknownType(received.from, now);
  }
  if (!header) return core_.OnMalformed(received.from, header.error().message, now);
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
