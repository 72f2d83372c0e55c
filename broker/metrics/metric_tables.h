// Every metric that the broker shows of its counters and gauges: name, help, and where its value is.
//
// Threads: constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "broker/metrics/counters.h"
#include "broker/metrics/gauges.h"

namespace skerry::broker {

struct CounterRow {
  const char* name;
  const char* help;
  std::uint64_t (*value)(const BrokerCounters&);
};
/// A family with one label, whose values are an enumeration's names.
struct CounterFamilyRow {
  const char* name;
  const char* help;
  const char* label;
  std::size_t size;
  std::string_view (*label_of)(std::size_t);
  std::uint64_t (*value)(const BrokerCounters&, std::size_t);
};
struct GaugeRow {
  const char* name;
  const char* help;
  double (*value)(const BrokerGauges&);
};
struct GaugeFamilyRow {
  const char* name;
  const char* help;
  const char* label;
  std::size_t size;
  std::string_view (*label_of)(std::size_t);
  double (*value)(const BrokerGauges&, std::size_t);
};
/// In seconds, with TimeHistogram's bounds.
struct HistogramRow {
  const char* name;
  const char* help;
  const TimeHistogram& (*value)(const BrokerCounters&);
};

std::span<const CounterRow> CounterRows();
std::span<const CounterFamilyRow> CounterFamilyRows();
std::span<const GaugeRow> GaugeRows();
std::span<const GaugeFamilyRow> GaugeFamilyRows();
std::span<const HistogramRow> HistogramRows();

}  // namespace skerry::broker
