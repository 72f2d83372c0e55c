// What moves the broker's metrics, each cause with what exactly it moves; counted_test.cc runs them.
//
// Threads: the test's.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "broker/testing/core_harness.h"

namespace skerry::broker::testing {

/// Series of the metrics page by how they stand, zeros left out.
using Moved = std::map<std::string, double>;

struct CountedCase {
  const char* what;
  std::function<void(CoreHarness&)> cause;
  Moved expected;
};

std::vector<CountedCase> JobCases();
std::vector<CountedCase> RejectionCases();
std::vector<CountedCase> RelayCases();
std::vector<CountedCase> PeerCases();
std::vector<CountedCase> ProgramCases();
std::vector<CountedCase> TenantCases();

inline BrokerConfig Small() {
  BrokerConfig config;
  config.client_credit = 3;
  config.max_queued = 2;
  config.max_unacked_finals = 8;
  config.max_backlog_bytes = Bytes(3'000);
  config.max_program_bytes = Bytes::MiB(1);
  return config;
}

inline JobSpec FailFast(const std::string& id, std::uint64_t memory_mb = 256) {
  JobSpec spec = CoreHarness::Spec(id);
  spec.admission = Admission::kFailFast;
  spec.limits = {{"memoryMb", memory_mb}};
  return spec;
}

inline void Peers(CoreHarness& broker, std::uint64_t slots = 1, std::uint64_t memory_mb = 1024) {
  broker.ConnectClient("c", "s");
  broker.ConnectWorker("w", slots, memory_mb);
}

inline wire::Hello HelloOf(wire::Role role, const std::string& session) {
  wire::Hello hello;
  hello.role = role;
  hello.session = SessionId(session);
  hello.slots = 1;
  hello.memory_mb = 1024;
  return hello;
}

/// What two connected peers show before anything happens.
inline Moved Plus(Moved more, double slots_free = 1, double memory_free_mb = 1024) {
  more.insert({{"skerry_sessions", 1},
               {"skerry_workers", 1},
               {"skerry_workers_accepting", 1},
               {"skerry_worker_info{sandbox=\"unknown\",v8=\"unknown\",version=\"unknown\"}", 1}});
  if (slots_free > 0) more["skerry_worker_slots{state=\"free\"}"] = slots_free;
  if (memory_free_mb > 0) more["skerry_worker_memory_bytes{state=\"free\"}"] = memory_free_mb * 1024 * 1024;
  return more;
}
/// One job that was accepted and is on the only worker.
inline Moved Running(Moved more, double slots_free = 0, double memory_free_mb = 768) {
  more.insert({{"skerry_jobs_dispatched_total", 1},
               {"skerry_running_jobs", 1},
               {"skerry_worker_slots{state=\"used\"}", 1},
               {"skerry_worker_memory_bytes{state=\"promised\"}", 256.0 * 1024 * 1024}});
  return Plus(std::move(more), slots_free, memory_free_mb);
}
inline Moved Rejected(const std::string& reason, const std::string& code, const std::string& fault,
                      Moved more = {}) {
  more.insert({{"skerry_jobs_submitted_total", 1},
               {"skerry_jobs_rejected_total{reason=\"" + reason + "\"}", 1},
               {"skerry_jobs_finished_total{code=\"" + code + "\"}", 1},
               {"skerry_jobs_failed_total{fault=\"" + fault + "\"}", 1}});
  return more;
}

inline void SayEvent(CoreHarness& broker, EventType type, const std::string& payload) {
  wire::Event event;
  event.lease = broker.LastLease("w");
  event.type = type;
  broker.Say(WorkerPeer("w"), event, {payload});
}

}  // namespace skerry::broker::testing
