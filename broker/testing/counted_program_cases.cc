#include "broker/jobs/code_store.h"
#include "broker/testing/counted_cases.h"
#include "common/hash.h"

namespace skerry::broker::testing {
namespace {

constexpr const char* kWorkerInfo =
    "skerry_worker_info{sandbox=\"unknown\",v8=\"unknown\",version=\"unknown\"}";

JobSpec Program(const std::string& id, const std::string& code) {
  JobSpec spec = CoreHarness::Spec(id);
  spec.program = true;
  spec.code_hash = Sha256(code);
  return spec;
}

void Greet(CoreHarness& broker) {
  wire::Hello hello = HelloOf(wire::Role::kClient, "s");
  hello.capabilities = {"programs"};
  broker.Say(ClientPeer("c"), hello);
}
void GreetWorker(CoreHarness& broker, const std::vector<std::string>& libraries = {}) {
  wire::Hello hello = HelloOf(wire::Role::kWorker, "w");
  hello.capabilities = {"reproducible", "programs"};
  hello.libraries = libraries;
  hello.slots = 2;
  broker.Say(WorkerPeer("w"), hello);
}

/// Of the tenant "default".
double KeptBytes(std::size_t code) {
  return static_cast<double>(CodeStore::kBytesPerEntry + 8 + 32 + code);
}

}  // namespace

std::vector<CountedCase> ProgramCases() {
  return {
      {"a program that comes with its code, without it, and is asked for by its worker",
       [](CoreHarness& broker) {
         Greet(broker);
         GreetWorker(broker);
         broker.Submit("c", Program("a", "code"), "code");
         broker.Submit("c", Program("b", "code"), "");
         broker.Say(WorkerPeer("w"), wire::Need{JobId(), broker.LastLease("w")});
       },
       {{"skerry_sessions", 1},
        {"skerry_workers", 1},
        {"skerry_workers_accepting", 1},
        {kWorkerInfo, 1},
        {"skerry_jobs_submitted_total", 2},
        {"skerry_jobs_accepted_total", 2},
        {"skerry_jobs_dispatched_total", 2},
        {"skerry_running_jobs", 2},
        {"skerry_worker_slots{state=\"used\"}", 2},
        {"skerry_worker_memory_bytes{state=\"promised\"}", 512.0 * 1024 * 1024},
        {"skerry_worker_memory_bytes{state=\"free\"}", 512.0 * 1024 * 1024},
        {"skerry_program_bytes", KeptBytes(4)},
        {"skerry_program_submits_total{code=\"sent\"}", 1},
        {"skerry_program_submits_total{code=\"left_out\"}", 1},
        {"skerry_program_dispatches_total{code=\"sent\"}", 1},
        {"skerry_program_dispatches_total{code=\"left_out\"}", 1},
        {"skerry_program_dispatches_total{code=\"needed\"}", 1}}},
      {"a program whose code is not here is no job yet, and no refusal",
       [](CoreHarness& broker) {
         Greet(broker);
         broker.Submit("c", Program("a", "code"), "");
       },
       {{"skerry_sessions", 1}, {"skerry_program_submits_total{code=\"needed\"}", 1}}},
      {"a program under another's hash",
       [](CoreHarness& broker) {
         Greet(broker);
         broker.Submit("c", Program("a", "code"), "other code");
       },
       Rejected("validation", "VALIDATION", "client", {{"skerry_sessions", 1}})},
      {"a program that has to make room",
       [](CoreHarness& broker) {
         Greet(broker);
         for (const char* code : {"a", "b"}) {
           const std::string text(600'000, code[0]);
           JobSpec spec = Program(code, text);
           spec.limits = {{"maxCodeBytes", 1'000'000}};
           broker.Submit("c", spec, text);
         }
       },
       {{"skerry_sessions", 1},
        {"skerry_jobs_submitted_total", 2},
        {"skerry_jobs_accepted_total", 2},
        {"skerry_queued_jobs", 2},
        {"skerry_queued_bytes", 2 * (1024 + 1 + 600'000)},
        {"skerry_program_submits_total{code=\"sent\"}", 2},
        {"skerry_program_evictions_total", 1},
        {"skerry_program_bytes", KeptBytes(600'000)}}},
      {"a job whose libraries went away",
       [](CoreHarness& broker) {
         Greet(broker);
         GreetWorker(broker, {"a"});
         broker.ConnectWorker("w2", 1, 1024);
         broker.Say(WorkerPeer("w"), wire::Drain{});
         JobSpec spec = CoreHarness::Spec("a");
         spec.libraries = {"a"};
         broker.Submit("c", spec);
       },
       {{"skerry_sessions", 1},
        {"skerry_workers", 2},
        {"skerry_workers_accepting", 1},
        {kWorkerInfo, 2},
        {"skerry_worker_slots{state=\"free\"}", 1},
        {"skerry_worker_memory_bytes{state=\"free\"}", 1024.0 * 1024 * 1024},
        {"skerry_jobs_submitted_total", 1},
        {"skerry_jobs_accepted_total", 1},
        {"skerry_queued_jobs", 1},
        {"skerry_parked_jobs", 1},
        {"skerry_queued_bytes", 1024 + 5}}},
      {"a job with a library that nobody has",
       [](CoreHarness& broker) {
         Greet(broker);
         broker.ConnectWorker("w", 1, 1024);
         JobSpec spec = CoreHarness::Spec("a");
         spec.libraries = {"a"};
         broker.Submit("c", spec);
       },
       Plus(Rejected("validation", "VALIDATION", "client"))},
  };
}

}  // namespace skerry::broker::testing
