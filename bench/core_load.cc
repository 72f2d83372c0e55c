#include "bench/core_load.h"

#include <jemalloc/jemalloc.h>
#include <time.h>

#include <string>
#include <variant>

namespace skerry::bench {
namespace {

using broker::Payload;
using broker::Peer;
using broker::Side;

const std::string kCode = "return input.a + input.b";
const std::string kInput = R"({"a":19,"b":23})";
const std::string kValue = "42";

/// Nothing of what is bounded may trip: it is not what is measured.
broker::BrokerConfig Roomy() {
  broker::BrokerConfig config;
  constexpr std::uint64_t kMany = 1'000'000'000;
  config.max_queued = kMany;
  config.client_credit = kMany;
  config.max_peers = kMany;
  config.max_unacked_finals = kMany;
  config.client_window = Bytes::MiB(1 << 20);
  return config;
}

Peer Client(std::uint64_t tenant) {
  return {Side::kClient, std::to_string(tenant)};
}

wire::Submit SubmitOf(std::uint64_t number, std::uint64_t tenant) {
  wire::Submit submit;
  submit.job.id = JobId("b" + std::to_string(number));
  submit.job.tenant = TenantId("tenant " + std::to_string(tenant));
  return submit;
}

std::vector<Payload> CodeAndInput() {
  std::vector<Payload> payloads;
  payloads.emplace_back(kCode);
  payloads.emplace_back(kInput);
  return payloads;
}

wire::Hello HelloFrom(wire::Role role, std::uint64_t number) {
  wire::Hello hello;
  hello.role = role;
  hello.session = SessionId((role == wire::Role::kClient ? "client " : "worker ") + std::to_string(number));
  return hello;
}

/// Time in which others had the core is not the broker's cost.
double ThreadCpuNs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double HeapBytes() {
  std::uint64_t epoch = 1;  // jemalloc counts anew
  std::size_t size = sizeof(epoch);
  mallctl("epoch", &epoch, &size, &epoch, size);
  std::size_t allocated = 0;
  size = sizeof(allocated);
  mallctl("stats.allocated", &allocated, &size, nullptr, 0);
  return static_cast<double>(allocated);
}

}  // namespace

CoreLoad::CoreLoad(const CoreSize& size) : core_(Roomy(), now_) {
  Connect(size);
  for (std::uint64_t i = 0; i < size.workers * kSlots + size.queued; ++i) Submit(i % size.tenants);
  Deliver();
}

void CoreLoad::Connect(const CoreSize& size) {
  for (std::uint64_t i = 0; i < size.tenants; ++i)
    core_.OnMessage(Client(i), HelloFrom(wire::Role::kClient, i), {}, now_);
  for (std::uint64_t i = 0; i < size.workers; ++i) {
    wire::Hello hello = HelloFrom(wire::Role::kWorker, i);
    hello.slots = kSlots;
    hello.memory_mb = kSlots * SpecOf(LimitId::kMemoryMb).default_value;
    core_.OnMessage({Side::kWorker, std::to_string(i)}, hello, {}, now_);
  }
  Deliver();
}

void CoreLoad::Say(const Peer& from, wire::Header header, std::vector<Payload> payloads) {
  core_.OnMessage(from, std::move(header), std::move(payloads), now_);
}

void CoreLoad::Submit(std::uint64_t tenant) {
  Say(Client(tenant), SubmitOf(next_id_++, tenant), CodeAndInput());
}

std::vector<std::pair<std::uint64_t, JobId>> CoreLoad::Deliver() {
  std::vector<std::pair<std::uint64_t, JobId>> ended;
  for (auto sends = core_.TakeSends(); !sends.empty(); sends = core_.TakeSends()) {
    for (broker::Send& send : sends) {
      if (const auto* dispatch = std::get_if<wire::Dispatch>(&send.header)) {
        running_.push_back({std::move(send.peer), dispatch->lease});
      } else if (const auto* final = std::get_if<wire::Final>(&send.header)) {
        ended.emplace_back(std::stoull(send.peer.routing), final->id);
      } else if (const auto* ping = std::get_if<wire::Ping>(&send.header)) {
        Say(send.peer, wire::Pong{ping->number});  // or nothing more is sent to a client
      }
    }
  }
  return ended;
}

Result<double> CoreLoad::NsPerJob(Millis duration) {
  constexpr int kJobsBetweenLooks = 64;  // at the clock that ends it
  const TimePoint end = SteadyClock::now() + duration;
  const std::size_t expected = running_.size();
  std::uint64_t jobs = 0;
  const double cpu_before = ThreadCpuNs();
  while (SteadyClock::now() < end) {
    for (int i = 0; i < kJobsBetweenLooks; ++i, ++jobs) {
      const Lease lease = std::move(running_.front());
      running_.pop_front();
      wire::Final final;
      final.lease = lease.id;
      final.ok = true;
      final.started = true;
      std::vector<Payload> value;
      value.emplace_back(kValue);
      Say(lease.worker, final, std::move(value));
      for (const auto& [tenant, id] : Deliver()) {
        Say(Client(tenant), wire::Ack{{id.str()}});
        Submit(tenant);
      }
      (void)Deliver();
      if (running_.size() != expected)
        return Fail(ErrorKind::kInternal, "the broker's core has left a slot empty, or filled one too many");
    }
  }
  return (ThreadCpuNs() - cpu_before) / static_cast<double>(jobs);
}

double CoreBytesPerQueuedJob(std::uint64_t jobs) {
  const double before = HeapBytes();
  broker::BrokerCore core(Roomy(), TimePoint());
  core.OnMessage(Client(0), HelloFrom(wire::Role::kClient, 0), {}, TimePoint());
  for (std::uint64_t i = 0; i < jobs; ++i) {
    core.OnMessage(Client(0), SubmitOf(i, 0), CodeAndInput(), TimePoint());
    (void)core.TakeSends();
  }
  const double payload = static_cast<double>(kCode.size() + kInput.size());
  return (HeapBytes() - before) / static_cast<double>(jobs) - payload;
}

}  // namespace skerry::bench
