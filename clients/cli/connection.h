// A client and, without --broker, the private pool it talks to.
//
// Ownership: the client goes first (its BYE must find a broker), then the pool. Threads: the main thread.
// Errors: Open says why no broker could be reached.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/cli/private_pool.h"
#include "clients/cpp/client.h"

namespace skerry::cli {

struct ConnectOptions {
  std::vector<std::string> brokers;  ///< where they are; none: a private pool
  std::string key_file;              ///< of this client, for brokers at tcp://
  std::string broker_key;            ///< the public key of brokers that name none of their own
  Millis failover_after{3'000};
  Millis resolve_every{30'000};
  PoolOptions pool;
  std::string data;  ///< fixtures file; empty: none
  std::string tenant = "default";
  std::string user;
  SessionId session;  ///< empty: a new one
  /// Of operators' commands: brokers' admin sockets; empty: of the pool that runs here.
  std::vector<std::string> admin;
  std::string admin_key_file;  ///< for those at tcp://
  // Of several brokers, see ClientOptions.
  std::function<void(const std::vector<JobPlacement>&)> on_placed;
  std::function<std::string(const JobId&)> placed_before;
};

class Connection {
 public:
  static Result<Connection> Open(const ConnectOptions& options);

  Client& client() { return *client_; }
  /// A private process that died.
  std::optional<Error> Failure() { return pool_ ? pool_->Failure() : std::nullopt; }

 private:
  Connection() = default;
  std::unique_ptr<PrivatePool> pool_;
  std::unique_ptr<Client> client_;  // destroyed first
};

}  // namespace skerry::cli
