#include "broker/metrics.h"

#include <CivetServer.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <utility>
#include <vector>

#include "common/endpoint.h"
#include "common/limits.h"
#include "common/outcome.h"

namespace skerry::broker {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Registry;

Counter& OneCounter(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}
Gauge& OneGauge(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

/// Prometheus counters only go up: by what is new since the last time.
void CatchUp(Counter& counter, std::uint64_t value) {
  counter.Increment(static_cast<double>(value) - counter.Value());
}

class TextHandler : public CivetHandler {
 public:
  explicit TextHandler(const Registry* registry) : registry_(registry) {}
  bool handleGet(CivetServer*, mg_connection* connection) override {
    const std::string body =
        registry_ == nullptr ? "ok\n" : prometheus::TextSerializer().Serialize(registry_->Collect());
    mg_printf(connection,
              "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %zu\r\n"
              "Connection: close\r\n\r\n",
              body.size());
    mg_write(connection, body.data(), body.size());
    return true;
  }

 private:
  const Registry* registry_;
};

}  // namespace

struct Metrics::Impl {
  Registry registry;
  Counter& submitted =
      OneCounter(registry, "skerry_jobs_submitted_total", "Jobs submitted, refused ones included.");
  Counter& dispatched = OneCounter(registry, "skerry_jobs_dispatched_total", "Dispatches to workers.");
  Counter& redispatched =
      OneCounter(registry, "skerry_jobs_redispatched_total", "Jobs sent again after their worker was lost.");
  Counter& stray =
      OneCounter(registry, "skerry_stray_finals_total", "Finals for leases their worker did not hold.");
  Counter& dropped =
      OneCounter(registry, "skerry_backlog_dropped_total", "Events dropped for clients that were away.");
  Gauge& queued = OneGauge(registry, "skerry_queued_jobs", "Jobs waiting for a worker.");
  Gauge& queued_bytes = OneGauge(registry, "skerry_queued_bytes", "Payload bytes of the jobs that wait.");
  Gauge& running = OneGauge(registry, "skerry_running_jobs", "Leases held by workers.");
  Gauge& workers = OneGauge(registry, "skerry_workers", "Workers connected.");
  Gauge& sessions = OneGauge(registry, "skerry_sessions", "Client sessions, absent clients' included.");
  Counter* finished_ok = nullptr;
  std::array<Counter*, kCodeCount> finished_error{};
  std::array<Counter*, kLimitCount> limit_trips{};
  TextHandler text{&registry};
  TextHandler health{nullptr};
  std::unique_ptr<CivetServer> http;

  Impl() {
    auto& finished = prometheus::BuildCounter()
                         .Name("skerry_jobs_finished_total")
                         .Help("Jobs ended, by outcome code (ok or an error code).")
                         .Register(registry);
    finished_ok = &finished.Add({{"code", "ok"}});
    for (int i = 0; i < kCodeCount; ++i) {
      finished_error[i] = &finished.Add({{"code", std::string(NameOf(static_cast<Code>(i)))}});
    }
    auto& trips = prometheus::BuildCounter()
                      .Name("skerry_limit_trips_total")
                      .Help("Jobs that a limit ended or curtailed, once per job and limit.")
                      .Register(registry);
    for (const LimitSpec& spec : kLimitSpecs) {
      limit_trips[static_cast<std::size_t>(spec.id)] = &trips.Add({{"limit", std::string(spec.name)}});
    }
  }
};

Metrics::Metrics(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Metrics::~Metrics() = default;

Result<std::unique_ptr<Metrics>> Metrics::Serve(const std::string& address) {
  if (auto allowed = CheckEndpoint("tcp://" + address); !allowed) {
    return Fail(ErrorKind::kInvalid, "--metrics " + address + ": must be HOST:PORT with a loopback host");
  }
  std::string listen = address;
  if (listen.starts_with("localhost:")) listen.replace(0, 9, "127.0.0.1");
  auto impl = std::make_unique<Impl>();
  try {
    impl->http = std::make_unique<CivetServer>(std::vector<std::string>{
        "listening_ports", listen, "num_threads", "2", "request_timeout_ms", "5000"});
  } catch (const CivetException& e) {
    return Fail(ErrorKind::kUnavailable, "cannot serve metrics on " + address + ": " + e.what());
  }
  impl->http->addHandler("/metrics", impl->text);
  impl->http->addHandler("/livez", impl->health);
  impl->http->addHandler("/readyz", impl->health);
  return std::unique_ptr<Metrics>(new Metrics(std::move(impl)));
}

void Metrics::Show(const BrokerCounters& counters, const BrokerGauges& gauges) {
  CatchUp(impl_->submitted, counters.submitted);
  CatchUp(impl_->dispatched, counters.dispatched);
  CatchUp(impl_->redispatched, counters.redispatched);
  CatchUp(impl_->stray, counters.stray_finals);
  CatchUp(impl_->dropped, counters.dropped_events);
  CatchUp(*impl_->finished_ok, counters.finished_ok);
  for (std::size_t i = 0; i < kCodeCount; ++i) CatchUp(*impl_->finished_error[i], counters.finished_error[i]);
  for (std::size_t i = 0; i < kLimitCount; ++i) CatchUp(*impl_->limit_trips[i], counters.limit_trips[i]);
  impl_->queued.Set(static_cast<double>(gauges.queued));
  impl_->queued_bytes.Set(static_cast<double>(gauges.queued_bytes));
  impl_->running.Set(static_cast<double>(gauges.running));
  impl_->workers.Set(static_cast<double>(gauges.workers));
  impl_->sessions.Set(static_cast<double>(gauges.sessions));
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace skerry::broker
