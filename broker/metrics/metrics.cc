#include "broker/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "broker/metrics/metric_tables.h"
#include "broker/metrics/process_metrics.h"
#include "common/version.h"

namespace skerry::broker {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::MetricFamily;
using prometheus::MetricType;
using prometheus::Registry;

Histogram::BucketBoundaries BoundsInSeconds() {
  Histogram::BucketBoundaries bounds;
  for (const Micros bound : TimeHistogram::kBounds)
    bounds.push_back(static_cast<double>(bound.count()) / 1e6);
  return bounds;
}

/// Prometheus counters only go up: by what is new since the last time.
void CatchUp(Counter& counter, std::uint64_t value) {
  const auto now = static_cast<double>(value);
  if (now > counter.Value()) counter.Increment(now - counter.Value());
}

struct ShownHistogram {
  Histogram* histogram;
  TimeHistogram shown;

  void CatchUp(const TimeHistogram& now) {
    if (now == shown) return;
    std::vector<double> fresh(TimeHistogram::kBuckets);
    for (std::size_t i = 0; i < fresh.size(); ++i)
      fresh[i] = static_cast<double>(now.counts()[i] - shown.counts()[i]);
    histogram->ObserveMultiple(fresh, static_cast<double>(now.sum_us() - shown.sum_us()) / 1e6);
    shown = now;
  }
};

std::string TypeName(MetricType type) {
  switch (type) {
    case MetricType::Counter:
      return "counter";
    case MetricType::Gauge:
      return "gauge";
    case MetricType::Histogram:
      return "histogram";
    default:
      return "another";
  }
}

/// skerry_worker_info: a series for each build that is connected, the first kMaxBuilds of them by name; what
/// is more is one series "other".
class BuildInfo {
 public:
  explicit BuildInfo(Registry& registry)
      : family_(
            prometheus::BuildGauge()
                .Name("skerry_worker_info")
                .Help("Workers connected, by their version, the V8 of their cells and what holds these in.")
                .Register(registry)) {}

  void Show(const WorkerBuilds& builds) {
    if (builds == shown_) return;
    WorkerBuilds bounded;
    for (const auto& [build, count] : builds)
      bounded[bounded.size() < Metrics::kMaxBuilds ? build : WorkerBuild{"other", "other", "other"}] += count;
    for (auto series = series_.begin(); series != series_.end();) {
      if (bounded.contains(series->first)) {
        ++series;
        continue;
      }
      family_.Remove(series->second);
      series = series_.erase(series);
    }
    for (const auto& [build, count] : bounded) {
      auto& series = series_[build];
      if (series == nullptr) {
        series = &family_.Add({{"version", build.version}, {"v8", build.v8}, {"sandbox", build.sandbox}});
      }
      series->Set(static_cast<double>(count));
    }
    shown_ = builds;
  }

 private:
  Family<Gauge>& family_;
  std::map<WorkerBuild, Gauge*> series_;
  WorkerBuilds shown_;
};

}  // namespace

struct Metrics::Impl {
  Registry registry;
  ProcessMetrics process;
  std::vector<Counter*> counters;
  std::vector<std::vector<Counter*>> counter_families;
  std::vector<Gauge*> gauges;
  std::vector<std::vector<Gauge*>> gauge_families;
  std::vector<ShownHistogram> histograms;
  BuildInfo builds{registry};

  Impl() {
    for (const CounterRow& row : CounterRows()) {
      counters.push_back(
          &prometheus::BuildCounter().Name(row.name).Help(row.help).Register(registry).Add({}));
    }
    for (const CounterFamilyRow& row : CounterFamilyRows()) {
      auto& family = prometheus::BuildCounter().Name(row.name).Help(row.help).Register(registry);
      auto& series = counter_families.emplace_back();
      for (std::size_t i = 0; i < row.size; ++i)
        series.push_back(&family.Add({{row.label, std::string(row.label_of(i))}}));
    }
    for (const GaugeRow& row : GaugeRows()) {
      gauges.push_back(&prometheus::BuildGauge().Name(row.name).Help(row.help).Register(registry).Add({}));
    }
    for (const GaugeFamilyRow& row : GaugeFamilyRows()) {
      auto& family = prometheus::BuildGauge().Name(row.name).Help(row.help).Register(registry);
      auto& series = gauge_families.emplace_back();
      for (std::size_t i = 0; i < row.size; ++i)
        series.push_back(&family.Add({{row.label, std::string(row.label_of(i))}}));
    }
    for (const HistogramRow& row : HistogramRows()) {
      auto& family = prometheus::BuildHistogram().Name(row.name).Help(row.help).Register(registry);
      histograms.push_back({&family.Add({}, BoundsInSeconds()), {}});
    }
    prometheus::BuildGauge()
        .Name("skerry_build_info")
        .Help("1, with the broker's version.")
        .Register(registry)
        .Add({{"version", std::string(kSkerryVersion)}})
        .Set(1);
  }

  std::vector<MetricFamily> Collect() const {
    auto families = registry.Collect();
    for (MetricFamily& family : process.Collect()) families.push_back(std::move(family));
    return families;
  }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::Show(const BrokerCounters& counters, const BrokerGauges& gauges) {
  for (std::size_t i = 0; i < impl_->counters.size(); ++i)
    CatchUp(*impl_->counters[i], CounterRows()[i].value(counters));
  for (std::size_t i = 0; i < impl_->counter_families.size(); ++i) {
    const auto& series = impl_->counter_families[i];
    for (std::size_t j = 0; j < series.size(); ++j)
      CatchUp(*series[j], CounterFamilyRows()[i].value(counters, j));
  }
  for (std::size_t i = 0; i < impl_->gauges.size(); ++i) impl_->gauges[i]->Set(GaugeRows()[i].value(gauges));
  for (std::size_t i = 0; i < impl_->gauge_families.size(); ++i) {
    const auto& series = impl_->gauge_families[i];
    for (std::size_t j = 0; j < series.size(); ++j) series[j]->Set(GaugeFamilyRows()[i].value(gauges, j));
  }
  for (std::size_t i = 0; i < impl_->histograms.size(); ++i)
    impl_->histograms[i].CatchUp(HistogramRows()[i].value(counters));
  impl_->builds.Show(gauges.builds);
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(impl_->Collect());
}

std::vector<Metrics::Described> Metrics::Describe() const {
  std::vector<Described> all;
  for (const MetricFamily& family : impl_->Collect()) {
    std::set<std::string> labels;
    for (const auto& metric : family.metric) {
      for (const auto& label : metric.label) labels.insert(label.name);
    }
    all.push_back({family.name, TypeName(family.type), {labels.begin(), labels.end()}, family.help});
  }
  std::sort(all.begin(), all.end(), [](const Described& a, const Described& b) { return a.name < b.name; });
  return all;
}

}  // namespace skerry::broker
