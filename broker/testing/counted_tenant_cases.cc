#include "broker/testing/counted_cases.h"

namespace skerry::broker::testing {
namespace {

void SetTenants(CoreHarness& broker, const std::string& text) {
  auto tenants = Tenants::Parse("[default]\n" + text, "tenants.toml");
  if (tenants) broker.core.SetTenants(*std::move(tenants), broker.now);
}

/// The second of two jobs is refused.
Moved SecondRejected(const std::string& reason, const std::string& code, const std::string& fault,
                     const std::string& limit) {
  Moved moved = Rejected(reason, code, fault, {{"skerry_limit_trips_total{limit=\"" + limit + "\"}", 1}});
  moved["skerry_jobs_submitted_total"] = 2;
  moved["skerry_jobs_accepted_total"] = 1;
  return moved;
}
/// The first of which waits.
Moved WhileOneWaits(Moved moved) {
  moved.insert({{"skerry_sessions", 1}, {"skerry_queued_jobs", 1}, {"skerry_queued_bytes", 1024 + 5}});
  return moved;
}

}  // namespace

std::vector<CountedCase> TenantCases() {
  return {
      {"a tenant that has all queued that it may",
       [](CoreHarness& broker) {
         broker.ConnectClient("c", "s");
         SetTenants(broker, "max_queued = 1");
         for (const char* id : {"a", "b"}) broker.Submit("c", id);
       },
       WhileOneWaits(SecondRejected("tenant_queue", "OVERLOADED", "infrastructure", "maxQueued"))},
      {"failFast of a tenant that runs all it may",
       [](CoreHarness& broker) {
         Peers(broker, 2);
         SetTenants(broker, "max_concurrent = 1");
         broker.Submit("c", "a");
         broker.Submit("c", FailFast("b"));
       },
       Running(SecondRejected("tenant_busy", "OVERLOADED", "infrastructure", "maxConcurrent"), 1)},
      {"a tenant that submits too often",
       [](CoreHarness& broker) {
         broker.ConnectClient("c", "s");
         SetTenants(broker, "rate = 1");
         for (const char* id : {"a", "b"}) broker.Submit("c", id);
       },
       WhileOneWaits(SecondRejected("rate", "RATE_LIMITED", "client", "rate"))},
      {"a user that submits too often",
       [](CoreHarness& broker) {
         broker.ConnectClient("c", "s");
         SetTenants(broker, "user_rate = 1");
         for (const char* id : {"a", "b"}) {
           JobSpec spec = CoreHarness::Spec(id);
           spec.user = UserId("u");
           broker.Submit("c", spec);
         }
       },
       WhileOneWaits(SecondRejected("rate", "RATE_LIMITED", "client", "userRate"))},
      {"a Redis that is found and lost again",
       [](CoreHarness& broker) {
         broker.core.ShareRates(RateSharing::kShared, 3);
         broker.core.ShareRates(RateSharing::kLost, 3);
         broker.core.ShareRates(RateSharing::kLost, 3);
         broker.core.ShareRates(RateSharing::kShared, 2);
       },
       {{"skerry_redis_losses_total", 1}, {"skerry_redis_up", 1}, {"skerry_rate_brokers", 2}}},
      {"rates that Redis decides, or else this broker's share",
       [](CoreHarness& broker) {
         Peers(broker);
         SetTenants(broker, "rate = 5");
         broker.core.ShareRates(RateSharing::kLost, 3);
         broker.core.OnRatedSubmit(ClientPeer("c"), wire::Submit{CoreHarness::Spec("a")},
                                   {Payload("code"), Payload("1")}, {}, broker.now);
         broker.Submit("c", "b");
       },
       Running({{"skerry_jobs_submitted_total", 2},
                {"skerry_jobs_accepted_total", 1},
                {"skerry_jobs_rejected_total{reason=\"rate\"}", 1},
                {"skerry_jobs_finished_total{code=\"RATE_LIMITED\"}", 1},
                {"skerry_jobs_failed_total{fault=\"client\"}", 1},
                {"skerry_limit_trips_total{limit=\"rate\"}", 1},
                {"skerry_rates_decided_total{by=\"redis\"}", 1},
                {"skerry_rates_decided_total{by=\"share\"}", 1},
                {"skerry_rate_brokers", 3}})},
      {"a turn that has had its executions",
       [](CoreHarness& broker) {
         broker.ConnectClient("c", "s");
         for (const char* id : {"a", "b"}) {
           JobSpec spec = CoreHarness::Spec(id);
           spec.turn = TurnId("1");
           spec.turn_executions = 1;
           broker.Submit("c", spec);
         }
       },
       WhileOneWaits(SecondRejected("turn", "RATE_LIMITED", "client", "turnBudget"))},
  };
}

}  // namespace skerry::broker::testing
