// A pool whose broker shows its metrics.
//
// Threads: the test's.
#pragma once

#include <string>
#include <utility>

#include "common/testing/free_port.h"
#include "tests/support/metrics_page.h"
#include "tests/support/pool.h"

namespace skerry::testing {

/// A broker of `options`, with metrics on a port of its own.
struct WatchedPool {
  const std::uint16_t port = FreePort();
  Pool pool;

  explicit WatchedPool(PoolOptions options = {}) : pool(WithMetrics(std::move(options), port)) {}
  MetricsPage Page() const { return MetricsPage::Of(port); }
  MetricsPage Await(const std::function<bool(const MetricsPage&)>& as_it_should_be) const {
    return AwaitMetrics(port, as_it_should_be);
  }
  /// Until a worker takes jobs.
  MetricsPage AwaitWorker() const {
    return Await([](const MetricsPage& page) { return page.Value("skerry_workers_accepting") > 0; });
  }

 private:
  static PoolOptions WithMetrics(PoolOptions options, std::uint16_t port) {
    options.broker_args.insert(options.broker_args.end(), {"--metrics", "127.0.0.1:" + std::to_string(port)});
    return options;
  }
};

inline std::string Label(const std::string& name, const std::string& value) {
  return "{" + name + "=\"" + value + "\"}";
}

}  // namespace skerry::testing
