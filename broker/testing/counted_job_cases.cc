#include "broker/testing/counted_cases.h"

namespace skerry::broker::testing {
namespace {

/// Of the job that the worker has.
void SayCrash(CoreHarness& broker) {
  wire::Final final;
  final.lease = broker.LastLease("w");
  final.code = Code::kCrash;
  final.started = true;
  broker.Say(WorkerPeer("w"), final, {""});
}

}  // namespace

std::vector<CountedCase> JobCases() {
  return {
      {"a job that ends ok",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Submit("c", "a");
         wire::Final final;
         final.lease = broker.LastLease("w");
         final.ok = final.started = true;
         final.usage.wall_ms = 2;
         final.usage.cpu_ms = 1;
         broker.Say(WorkerPeer("w"), final, {"12345"});
       },
       Plus({{"skerry_jobs_submitted_total", 1},
             {"skerry_jobs_accepted_total", 1},
             {"skerry_jobs_dispatched_total", 1},
             {"skerry_jobs_finished_total{code=\"ok\"}", 1},
             {"skerry_result_bytes_total", 5},
             {"skerry_job_queue_seconds_count", 1},
             {"skerry_job_run_seconds_count", 1},
             {"skerry_job_cpu_seconds_count", 1},
             {"skerry_unacknowledged_finals", 1},
             {"skerry_unacknowledged_final_bytes", 5}})},
      {"the same job again",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Submit("c", "a");
         broker.Submit("c", "a");
       },
       Running({{"skerry_jobs_submitted_total", 1},
                {"skerry_jobs_accepted_total", 1},
                {"skerry_jobs_resubmitted_total", 1}})},
      {"a job whose worker is lost runs again",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Submit("c", "a");
         broker.Say(WorkerPeer("w"), wire::Bye{});
         broker.ConnectWorker("w2", 1, 1024);
       },
       [] {
         Moved moved = Running({{"skerry_jobs_submitted_total", 1},
                                {"skerry_jobs_accepted_total", 1},
                                {"skerry_jobs_redispatched_total", 1}});
         moved["skerry_jobs_dispatched_total"] = 2;
         return moved;
       }()},
      {"a worker turns a dispatch down",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Submit("c", "a");
         wire::Final full;
         full.lease = broker.LastLease("w");
         full.code = Code::kOverloaded;
         full.fault = Fault::kInfrastructure;
         broker.Say(WorkerPeer("w"), full, {""});
       },
       [] {
         Moved moved = Running({{"skerry_jobs_submitted_total", 1},
                                {"skerry_jobs_accepted_total", 1},
                                {"skerry_jobs_turned_down_total", 1}});
         moved["skerry_jobs_dispatched_total"] = 2;
         return moved;
       }()},
      {"a program that crashes a third time while a copy of it waits",
       [](CoreHarness& broker) {
         Peers(broker);
         for (const char* id : {"a", "b"}) {
           broker.Submit("c", id);
           SayCrash(broker);
         }
         broker.Submit("c", "crashes");
         broker.Submit("c", "waits");
         SayCrash(broker);
       },
       Plus({{"skerry_jobs_submitted_total", 4},
             {"skerry_jobs_accepted_total", 4},
             {"skerry_jobs_dispatched_total", 3},
             {"skerry_jobs_refused_in_queue_total", 1},
             {"skerry_jobs_finished_total{code=\"CRASH\"}", 3},
             {"skerry_jobs_finished_total{code=\"RATE_LIMITED\"}", 1},
             {"skerry_jobs_failed_total{fault=\"program\"}", 3},
             {"skerry_jobs_failed_total{fault=\"client\"}", 1},
             {"skerry_job_queue_seconds_count", 4},
             {"skerry_unacknowledged_finals", 4},
             {"skerry_unacknowledged_final_bytes",
              static_cast<double>(
                  wire::DetailPayload(MakeError(Code::kRateLimited,
                                                "this program of tenant 'default' crashed 3 times within "
                                                "600000 ms: refused for another 60000 ms"))
                      .size())}})},
      {"a job that waits",
       [](CoreHarness& broker) {
         broker.ConnectClient("c", "s");
         broker.Submit("c", "a");
       },
       {{"skerry_sessions", 1},
        {"skerry_jobs_submitted_total", 1},
        {"skerry_jobs_accepted_total", 1},
        {"skerry_queued_jobs", 1},
        {"skerry_queued_bytes", 1024 + 5}}},
      {"finals that nobody acknowledges",
       [](CoreHarness& broker) {
         Peers(broker);
         for (int i = 0; i < 8; ++i) {
           broker.Submit("c", "job " + std::to_string(i));
           broker.FinishOk(WorkerPeer("w"), broker.LastLease("w"), "1");
         }
         broker.Submit("c", "one too many");
       },
       Plus({{"skerry_jobs_submitted_total", 9},
             {"skerry_jobs_accepted_total", 8},
             {"skerry_jobs_dispatched_total", 8},
             {"skerry_jobs_finished_total{code=\"ok\"}", 8},
             {"skerry_jobs_rejected_total{reason=\"unread\"}", 1},
             {"skerry_jobs_finished_total{code=\"OVERLOADED\"}", 1},
             {"skerry_jobs_failed_total{fault=\"infrastructure\"}", 1},
             {"skerry_result_bytes_total", 8},
             {"skerry_job_queue_seconds_count", 8},
             {"skerry_unacknowledged_finals", 8},
             {"skerry_unacknowledged_final_bytes", 8}})},
  };
}

std::vector<CountedCase> RejectionCases() {
  return {
      {"a field that cannot be",
       [](CoreHarness& broker) {
         Peers(broker);
         JobSpec spec = CoreHarness::Spec("a");
         spec.priority = 1'000;
         broker.Submit("c", spec);
       },
       Plus(Rejected("validation", "VALIDATION", "client"))},
      {"a limit over its ceiling",
       [](CoreHarness& broker) {
         Peers(broker);
         JobSpec spec = CoreHarness::Spec("a");
         spec.limits = {{"timeoutMs", 86'000'000}};
         broker.Submit("c", spec);
       },
       Plus(Rejected("validation", "VALIDATION", "client",
                     {{"skerry_limit_trips_total{limit=\"timeoutMs\"}", 1}}))},
      {"an id with other content",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Submit("c", CoreHarness::Spec("a"));
         broker.Submit("c", CoreHarness::Spec("a"), "other code");
       },
       [] {
         Moved moved = Running(Rejected("duplicate_id", "VALIDATION", "client"));
         moved["skerry_jobs_submitted_total"] = 2;
         moved["skerry_jobs_accepted_total"] = 1;
         return moved;
       }()},
      {"a program that crashed three times",
       [](CoreHarness& broker) {
         Peers(broker);
         for (const char* id : {"a", "b", "c"}) {
           broker.Submit("c", id);
           SayCrash(broker);
         }
         broker.Submit("c", "one more");
       },
       [] {
         Moved moved = Plus(Rejected("crashes", "RATE_LIMITED", "client",
                                     {{"skerry_jobs_accepted_total", 3},
                                      {"skerry_jobs_dispatched_total", 3},
                                      {"skerry_jobs_finished_total{code=\"CRASH\"}", 3},
                                      {"skerry_jobs_failed_total{fault=\"program\"}", 3},
                                      {"skerry_job_queue_seconds_count", 3},
                                      {"skerry_unacknowledged_finals", 3}}));
         moved["skerry_jobs_submitted_total"] = 4;
         return moved;
       }()},
      {"failFast without a worker",
       [](CoreHarness& broker) {
         broker.ConnectClient("c", "s");
         broker.Submit("c", FailFast("a"));
       },
       Rejected("no_worker", "OVERLOADED", "infrastructure", {{"skerry_sessions", 1}})},
      {"failFast without a slot",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Submit("c", "a");
         broker.Submit("c", FailFast("b"));
       },
       [] {
         Moved moved = Running(Rejected("no_slot", "OVERLOADED", "infrastructure",
                                        {{"skerry_limit_trips_total{limit=\"maxConcurrentIsolates\"}", 1}}));
         moved["skerry_jobs_submitted_total"] = 2;
         moved["skerry_jobs_accepted_total"] = 1;
         return moved;
       }()},
      {"failFast without the memory",
       [](CoreHarness& broker) {
         Peers(broker, 2, 512);
         broker.Submit("c", "a");
         broker.Submit("c", FailFast("b", 400));
       },
       [] {
         Moved moved = Running(Rejected("no_memory", "OVERLOADED", "infrastructure",
                                        {{"skerry_limit_trips_total{limit=\"workerMemoryMb\"}", 1}}),
                               1, 256);
         moved["skerry_jobs_submitted_total"] = 2;
         moved["skerry_jobs_accepted_total"] = 1;
         return moved;
       }()},
      {"a job that fits no worker",
       [](CoreHarness& broker) {
         Peers(broker);
         JobSpec spec = FailFast("a", 1'024);
         spec.admission = Admission::kQueue;
         broker.Say(WorkerPeer("w"), wire::Credit{1, 512});
         broker.Say(WorkerPeer("w"), wire::Bye{});
         broker.ConnectWorker("w", 1, 512);
         broker.Submit("c", spec);
       },
       Plus(Rejected("never_fits", "OVERLOADED", "infrastructure",
                     {{"skerry_limit_trips_total{limit=\"workerMemoryMb\"}", 1}}),
            1, 512)},
      {"a full queue",
       [](CoreHarness& broker) {
         broker.ConnectClient("c", "s");
         for (const char* id : {"a", "b", "c"}) broker.Submit("c", id);
       },
       [] {
         Moved moved = Rejected("queue_full", "OVERLOADED", "infrastructure",
                                {{"skerry_sessions", 1},
                                 {"skerry_jobs_accepted_total", 2},
                                 {"skerry_queued_jobs", 2},
                                 {"skerry_queued_bytes", 2 * (1024 + 5)}});
         moved["skerry_jobs_submitted_total"] = 3;
         return moved;
       }()},
      {"more unfinished jobs than twice the credit",
       [](CoreHarness& broker) {
         Peers(broker, 8, 4096);
         for (int i = 0; i < 7; ++i) broker.Submit("c", "job " + std::to_string(i));
       },
       [] {
         Moved moved = Plus(Rejected("credit", "OVERLOADED", "infrastructure"), 2, 4096 - 6 * 256);
         moved["skerry_jobs_submitted_total"] = 7;
         moved["skerry_jobs_accepted_total"] = moved["skerry_jobs_dispatched_total"] = 6;
         moved["skerry_running_jobs"] = moved["skerry_worker_slots{state=\"used\"}"] = 6;
         moved["skerry_worker_memory_bytes{state=\"promised\"}"] = 6 * 256.0 * 1024 * 1024;
         return moved;
       }()},
  };
}

}  // namespace skerry::broker::testing
