#include "clients/cli/connection.h"

#include <utility>

#include "clients/cli/fixtures.h"
#include "common/version.h"

namespace skerry::cli {

Result<Connection> Connection::Open(const ConnectOptions& options) {
  Fixtures fixtures;
  if (!options.data.empty()) {
    auto loaded = Fixtures::Load(options.data);
    if (!loaded) return Fail(loaded.error());
    fixtures = std::move(*loaded);
  }
  Connection connection;
  ClientOptions client;
  client.brokers = options.brokers;
  client.failover_after = options.failover_after;
  client.resolve_every = options.resolve_every;
  client.on_placed = options.on_placed;
  client.placed_before = options.placed_before;
  client.key_file = options.key_file;
  client.broker_key = options.broker_key;
  client.tenant = TenantId(options.tenant);
  client.software = kSkerrySoftware;
  client.session = options.session;
  client.host_call_threads = 0;  // fixtures never block
  client.on_call = [fixtures = std::move(fixtures)](const JobId&, std::string_view method, std::string_view) {
    return fixtures.Answer(method);
  };
  if (options.brokers.empty()) {
    auto pool = PrivatePool::Start(options.pool);
    if (!pool) return Fail(pool.error());
    connection.pool_ = std::move(*pool);
    client.broker = connection.pool_->endpoint();
  }
  auto connected = Client::Connect(std::move(client));
  if (!connected) {
    // The pool's own story says more than "nobody answered".
    if (auto failure = connection.Failure()) return Fail(*failure);
    return Fail(connected.error());
  }
  connection.client_ = std::move(*connected);
  return connection;
}

}  // namespace skerry::cli
