// A pool as on several machines: worker and clients come over TCP, each with a key of its own.
//
//   EncryptedPool pool({"acme", "polite"}, {.isolates = 2});
//   RunReport report = pool.Run("acme", {Job("a", "return 1").Tenant("acme")});
//   Load steady(pool.ClientOf("polite"), {.every = Millis(20)}, ...);
//
// Threads: the test's; Run may be called from several. Ownership: as Pool. Errors: as Pool, and a tenant that
// was not named throws.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "clients/cpp/client_types.h"
#include "common/testing/free_port.h"
#include "tests/support/key_ring.h"
#include "tests/support/metrics_page.h"
#include "tests/support/places.h"
#include "tests/support/pool.h"

namespace skerry::testing {

class EncryptedPool {
 public:
  explicit EncryptedPool(const std::vector<std::string>& tenants, PoolOptions options = {});

  /// With the tenant's key.
  RunReport Run(const std::string& tenant, const std::vector<Job>& jobs, RunOptions options = {}) const;
  RunReport RunWith(const keys::LinkKeys& link, const std::vector<Job>& jobs, RunOptions options = {}) const;
  ClientOptions ClientOf(const std::string& tenant) const;
  ClientOptions ClientWith(const keys::LinkKeys& link) const;
  const keys::LinkKeys& KeyOf(const std::string& tenant) const { return tenants_.at(tenant); }
  const keys::LinkKeys& WorkersKey() const { return worker_; }

  KeyRing& keys() { return keys_; }
  /// Publishes the keys as they are now; returns once the broker has read them.
  void Reload();

  std::string clients_url() const { return "tcp://127.0.0.1:" + std::to_string(client_port_); }
  std::string workers_url() const { return "tcp://127.0.0.1:" + std::to_string(worker_port_); }
  std::uint16_t client_port() const { return client_port_; }
  std::uint16_t worker_port() const { return worker_port_; }
  pid_t broker() { return pool_.broker().pid(); }
  Pool& pool() { return pool_; }
  MetricsPage Page() const { return MetricsPage::Of(metrics_port_); }
  MetricsPage Await(const std::function<bool(const MetricsPage&)>& as_it_should_be) const {
    return AwaitMetrics(metrics_port_, as_it_should_be);
  }

 private:
  PoolOptions WithKeys(PoolOptions options, const std::vector<std::string>& tenants);

  const TempDir dir_;
  const std::uint16_t client_port_ = FreePort(), worker_port_ = FreePort(), metrics_port_ = FreePort();
  KeyRing keys_{dir_.path()};
  std::map<std::string, keys::LinkKeys> tenants_;
  const keys::LinkKeys worker_ = keys_.Add(keys::Role::kWorker, "rack");
  Pool pool_;
};

}  // namespace skerry::testing
