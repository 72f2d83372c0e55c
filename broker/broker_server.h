// The broker's sockets: moves messages between its ROUTERs and the core, and keeps its clock.
//
//   auto server = BrokerServer::Start(options);
//   (*server)->Run(stop_fd, reload_fd);     // until stop_fd is readable
//
// Threads: Start and Run on one thread; ZeroMQ's I/O thread and the metrics' HTTP threads are its own.
// Errors: Start says which endpoint could not be bound and why, and every fault of tenants.toml.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "broker/admin/admin_desk.h"
#include "broker/admin/admin_socket.h"
#include "broker/broker_core.h"
#include "broker/config.h"
#include "broker/door/connection_watch.h"
#include "broker/door/door_options.h"
#include "broker/door/gatekeeper.h"
#include "broker/metrics/health.h"
#include "broker/metrics/http_endpoint.h"
#include "broker/metrics/metrics.h"
#include "broker/redis/redis_options.h"
#include "broker/router.h"
#include "broker/tenants/shared_rates.h"
#include "common/result.h"

namespace skerry::broker {

struct ServerOptions {
  std::vector<std::string> client_endpoints;
  std::vector<std::string> worker_endpoints;
  std::vector<std::string> admin_endpoints;  ///< for operators' tools; none: nobody asks
  std::string metrics;                       ///< HOST:PORT on loopback; empty: no HTTP at all
  std::string tenants;  ///< path of tenants.toml; empty: every tenant may have what the pool has
  DoorOptions door;
  RedisOptions redis;  ///< whether brokers share rates, and where
  BrokerConfig config;

  /// Every fault at once, one a line, each beginning with its setting.
  Status Validate() const;
};

class BrokerServer {
 public:
  static Result<std::unique_ptr<BrokerServer>> Start(const ServerOptions& options);

  /// Serves until `stop_fd` is readable. Whenever `reload_fd` (a signalfd, an eventfd; -1: none) is, who may
  /// connect and what each tenant may have are read again.
  void Run(int stop_fd, int reload_fd = -1);

  /// Of the thread that runs it, or of any once Run has returned.
  const BrokerCounters& counters() const { return core_.counters(); }

 private:
  explicit BrokerServer(const ServerOptions& options);

  Status BindAll(Router& router, Side side, const std::vector<std::string>& endpoints);
  Status BindAdmin(const std::vector<std::string>& endpoints);
  void ServeDoor();
  ConnectionWatch& WatchOf(Side side) { return side == Side::kClient ? client_watch_ : worker_watch_; }
  TimePoint NextLook() const;
  std::function<bool(const Identity&)> Authorized() const;
  void Reload(int reload_fd);
  /// Whether clients' messages can be taken now.
  bool HasRoom() const;
  TimePoint NextWake() const;
  void Drain(Router& router);
  void Feed(Received received);
  void Flush();
  void ShowState(TimePoint now);
  /// A file with a fault changes nothing.
  void ReloadTenants();
  void ReloadKeys();

  const std::string tenants_;
  zmq::context_t context_;
  Gatekeeper door_;
  Router clients_;
  Router workers_;
  ConnectionWatch client_watch_;
  ConnectionWatch worker_watch_;
  std::optional<AdminSocket> admin_;
  TimePoint hang_up_at_ = TimePoint::max();  // on whom the last reload left without a key
  BrokerCore core_;
  std::unique_ptr<SharedRates> rates_;  // null: rates are this broker's alone
  AdminDesk desk_;
  Metrics metrics_;
  Health health_{SteadyClock::now()};
  std::unique_ptr<HttpEndpoint> http_;  // last: its threads read the two above
};

}  // namespace skerry::broker
