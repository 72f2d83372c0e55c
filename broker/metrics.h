// The broker's numbers over HTTP: /metrics (Prometheus text), /livez, /readyz. Loopback only, off unless
// asked for.
//
// Threads: Show on the broker's thread; the HTTP server has its own and reads Prometheus' atomic counters.
// Errors: Serve refuses addresses that other machines reach, and says when the port is taken.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "broker/counters.h"
#include "common/result.h"

namespace skerry::broker {

/// What is true now rather than counted.
struct BrokerGauges {
  std::uint64_t queued = 0;
  std::uint64_t queued_bytes = 0;
  std::uint64_t running = 0;
  std::uint64_t workers = 0;
  std::uint64_t sessions = 0;
};

class Metrics {
 public:
  /// `address`: HOST:PORT with a loopback host.
  static Result<std::unique_ptr<Metrics>> Serve(const std::string& address);
  ~Metrics();

  void Show(const BrokerCounters& counters, const BrokerGauges& gauges);
  /// What /metrics answers.
  std::string Text() const;

 private:
  struct Impl;
  explicit Metrics(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace skerry::broker
