#include "broker/testing/counted_cases.h"
#include "common/wire/stats.h"

namespace skerry::broker::testing {

std::vector<CountedCase> RelayCases() {
  const Moved one_job = {{"skerry_jobs_submitted_total", 1}, {"skerry_jobs_accepted_total", 1}};
  const auto with = [&](Moved more) {
    more.insert(one_job.begin(), one_job.end());
    return Running(std::move(more));
  };
  return {
      {"events",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Submit("c", "a");
         for (const auto type : {EventType::kConsole, EventType::kStatus, EventType::kStatus})
           SayEvent(broker, type, "1");
       },
       with({{"skerry_backlog_bytes", 3 * (512 + 1)},  // until the client has confirmed them
             {"skerry_events_relayed_total{type=\"console\"}", 1},
             {"skerry_events_relayed_total{type=\"status\"}", 2}})},
      {"a host call and its answer",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Submit("c", "a");
         broker.Say(WorkerPeer("w"), wire::Call{JobId(), broker.LastLease("w"), 1, 1}, {"method", "[1]"});
         broker.Say(ClientPeer("c"), wire::Answer{JobId("a"), LeaseId(), 1, 1}, {"1234"});
       },
       with({{"skerry_backlog_bytes", 512 + 9},
             {"skerry_host_calls_total", 1},
             {"skerry_host_answers_total", 1},
             {"skerry_host_call_bytes_total{direction=\"request\"}", 9},
             {"skerry_host_call_bytes_total{direction=\"answer\"}", 4}})},
      {"events dropped past the job's limits, as its final says",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Submit("c", "a");
         wire::Final final;
         final.lease = broker.LastLease("w");
         final.ok = true;
         final.usage.dropped_events = 40;
         final.usage.tripped.Add(LimitId::kMaxConsoleEvents);
         broker.Say(WorkerPeer("w"), final, {"1"});
       },
       Plus({{"skerry_jobs_submitted_total", 1},
             {"skerry_jobs_accepted_total", 1},
             {"skerry_jobs_dispatched_total", 1},
             {"skerry_jobs_finished_total{code=\"ok\"}", 1},
             {"skerry_result_bytes_total", 1},
             {"skerry_job_queue_seconds_count", 1},
             {"skerry_unacknowledged_finals", 1},
             {"skerry_unacknowledged_final_bytes", 1},
             {"skerry_events_dropped_total{cause=\"limit\"}", 40},
             {"skerry_limit_trips_total{limit=\"maxConsoleEvents\"}", 1}})},
      {"messages for jobs that are not there",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Say(ClientPeer("c"), wire::Answer{JobId("no"), LeaseId(), 1, 1}, {"1"});
         broker.Say(WorkerPeer("w"), wire::Call{JobId(), LeaseId(77), 1, 1}, {"m", "1"});
       },
       {{"skerry_sessions", 1},
        {"skerry_stray_messages_total", 2},
        {"skerry_workers_cut_off_total", 1},
        {"skerry_peers_refused_total{reason=\"cut_off\"}", 1}}},
      {"a final for a job that is not there",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.FinishOk(WorkerPeer("w"), LeaseId(77));
       },
       {{"skerry_sessions", 1},
        {"skerry_stray_finals_total", 1},
        {"skerry_workers_cut_off_total", 1},
        {"skerry_peers_refused_total{reason=\"cut_off\"}", 1}}},
      {"a message that comes twice",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.Submit("c", "a");
         wire::Event event;
         event.lease = broker.LastLease("w");
         event.seq = 1;
         for (int i = 0; i < 2; ++i) broker.Say(WorkerPeer("w"), event, {"1"});
       },
       with({{"skerry_backlog_bytes", 512 + 1},
             {"skerry_events_relayed_total{type=\"console\"}", 1},
             {"skerry_repeated_messages_total", 1}})},
      {"messages of a type that only newer peers know",
       [](CoreHarness& broker) {
         Peers(broker);
         broker.core.OnUnknownType(ClientPeer("c"), broker.now);
         broker.core.OnUnknownType(WorkerPeer("w"), broker.now);
       },
       Plus({{"skerry_unknown_messages_total", 2}})},
  };
}

std::vector<CountedCase> PeerCases() {
  const Moved one_worker = {{"skerry_workers", 1},
                            {"skerry_workers_accepting", 1},
                            {"skerry_worker_slots{state=\"free\"}", 1},
                            {"skerry_worker_memory_bytes{state=\"free\"}", 1024.0 * 1024 * 1024}};
  const auto worker = [&](Moved more) {
    more.insert(one_worker.begin(), one_worker.end());
    return more;
  };
  return {
      {"peers that speak another version, come to the wrong door, or say what cannot be",
       [](CoreHarness& broker) {
         wire::Hello future = HelloOf(wire::Role::kClient, "s");
         future.version = future.oldest_version = 99;
         broker.Say(ClientPeer("a"), future);
         broker.Say(ClientPeer("b"), HelloOf(wire::Role::kWorker, "s"));
         broker.Say(ClientPeer("c"), HelloOf(wire::Role::kClient, ""));
       },
       {{"skerry_peers_refused_total{reason=\"version\"}", 1},
        {"skerry_peers_refused_total{reason=\"role\"}", 1},
        {"skerry_peers_refused_total{reason=\"hello\"}", 1}}},
      {"connections that are not let in",
       [](CoreHarness& broker) {
         broker.core.OnHandshakeRefused(HandshakeRefusal::kUnknownKey);
         broker.core.OnHandshakeRefused(HandshakeRefusal::kUnfinished);
         broker.core.OnHandshakeRefused(HandshakeRefusal::kUnfinished);
       },
       {{"skerry_handshakes_refused_total{reason=\"unknown_key\"}", 1},
        {"skerry_handshakes_refused_total{reason=\"unfinished\"}", 2}}},
      {"messages by a key that was revoked",
       [](CoreHarness& broker) {
         broker.core.OnUnheard();
         broker.core.OnUnheard();
       },
       {{"skerry_unheard_messages_total", 2}}},
      {"broken messages",
       [](CoreHarness& broker) {
         broker.core.OnMalformed(ClientPeer("c"), "no map", broker.now);
         broker.core.OnMalformed(WorkerPeer("w"), "no map", broker.now);
         broker.core.OnMalformed(WorkerPeer("w"), "no map", broker.now);
       },
       {{"skerry_malformed_messages_total{side=\"client\"}", 1},
        {"skerry_malformed_messages_total{side=\"worker\"}", 2},
        {"skerry_peers_refused_total{reason=\"malformed\"}", 3}}},
      {"a client that sends what only a broker does",
       [](CoreHarness& broker) {
         broker.ConnectClient("c", "s");
         broker.Say(ClientPeer("c"), wire::Accepted{JobId("a")});
       },
       {{"skerry_sessions", 1},
        {"skerry_sessions_away", 1},
        {"skerry_peers_refused_total{reason=\"unexpected\"}", 1}}},
      {"a worker's figures, told twice, of which one part is new",
       [](CoreHarness& broker) {
         wire::Hello hello = HelloOf(wire::Role::kWorker, "w1");
         hello.software = "skerry/9";
         hello.v8 = "14.6\n";
         hello.sandbox = "seccomp";
         hello.capabilities = {"stats"};
         broker.Say(WorkerPeer("w"), hello);
         WorkerStats figures;
         figures.Count(IsolateExit::kFinished);
         figures.Count(CellRestart::kAge);
         figures.Count(DerivedCellEvent::kProgramMade);
         figures.fork_times.Observe(Micros(700));
         figures.reruns = 2;
         figures.lost_events = 3;
         figures.spares = 4;
         figures.cells = 1;
         broker.Say(WorkerPeer("w"), wire::ToStats(figures));
         figures.Count(IsolateExit::kFinished);
         broker.Say(WorkerPeer("w"), wire::ToStats(figures));
       },
       worker({{"skerry_isolate_exits_total{cause=\"finished\"}", 2},
               {"skerry_cell_restarts_total{reason=\"age\"}", 1},
               {"skerry_derived_cells_total{event=\"program_made\"}", 1},
               {"skerry_fork_seconds_count", 1},
               {"skerry_worker_reruns_total", 2},
               {"skerry_worker_lost_events_total", 3},
               {"skerry_worker_spares", 4},
               {"skerry_worker_cells", 1},
               {"skerry_worker_info{sandbox=\"seccomp\",v8=\"14.6?\",version=\"skerry/9\"}", 1}})},
      {"a worker whose figures go down",
       [](CoreHarness& broker) {
         broker.Say(WorkerPeer("w"), HelloOf(wire::Role::kWorker, "w1"));
         WorkerStats figures;
         figures.reruns = 5;
         broker.Say(WorkerPeer("w"), wire::ToStats(figures));
         figures.reruns = 4;
         broker.Say(WorkerPeer("w"), wire::ToStats(figures));
       },
       {{"skerry_worker_reruns_total", 5},
        {"skerry_workers_cut_off_total", 1},
        {"skerry_peers_refused_total{reason=\"cut_off\"}", 1}}},
      {"a worker whose figures are absurd",
       [](CoreHarness& broker) {
         broker.Say(WorkerPeer("w"), HelloOf(wire::Role::kWorker, "w1"));
         WorkerStats figures;
         figures.reruns = kMaxStat + 1;
         broker.Say(WorkerPeer("w"), wire::ToStats(figures));
       },
       {{"skerry_workers_cut_off_total", 1}, {"skerry_peers_refused_total{reason=\"cut_off\"}", 1}}},
      {"a worker that tells a sandbox that nobody knows",
       [](CoreHarness& broker) {
         wire::Hello hello = HelloOf(wire::Role::kWorker, "w1");
         hello.sandbox = "walls";
         broker.Say(WorkerPeer("w"), hello);
         broker.Say(WorkerPeer("w"), wire::Drain{});
       },
       {{"skerry_workers", 1},
        {"skerry_worker_info{sandbox=\"other\",v8=\"unknown\",version=\"unknown\"}", 1}}},
      {"a worker that drains",
       [](CoreHarness& broker) {
         broker.Say(WorkerPeer("w"), HelloOf(wire::Role::kWorker, "w1"));
         broker.Say(WorkerPeer("w"), wire::Drain{});
       },
       {{"skerry_workers", 1},
        {"skerry_worker_info{sandbox=\"unknown\",v8=\"unknown\",version=\"unknown\"}", 1}}},
  };
}

}  // namespace skerry::broker::testing
