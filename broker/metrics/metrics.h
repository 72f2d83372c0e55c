// The broker's numbers as Prometheus metrics; docs/metrics.md lists them, and metrics_golden.txt pins them.
//
// Labels are bounded: enumerations of ours, and for worker builds at most kMaxBuilds of them and "other". No
// job, tenant, user, client or worker is ever a label.
//
// Threads: Show on the broker's thread; Text from any.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "broker/metrics/counters.h"
#include "broker/metrics/gauges.h"

namespace skerry::broker {

class Metrics {
 public:
  static constexpr std::size_t kMaxBuilds = 16;

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void Show(const BrokerCounters& counters, const BrokerGauges& gauges);
  /// What /metrics answers.
  std::string Text() const;

  struct Described {
    std::string name;
    std::string type;                 ///< counter, gauge or histogram
    std::vector<std::string> labels;  ///< sorted
    std::string help;
  };
  /// Every metric, sorted by name.
  std::vector<Described> Describe() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skerry::broker
