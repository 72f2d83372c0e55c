// What the core has to do with rates that brokers share: submit_gate.h stands in front of it.
#include <utility>
#include <variant>

#include "broker/broker_core.h"

namespace skerry::broker {

std::optional<RateAsk> BrokerCore::AskFor(const Peer& from, const wire::Header& header) {
  const auto* submit = std::get_if<wire::Submit>(&header);
  if (submit == nullptr || from.side != Side::kClient) return std::nullopt;
  Session* session = sessions_.Find(from);
  if (session == nullptr || session->state != SessionState::kLinked) return std::nullopt;
  // To be refused for it: another tenant's rate is not even asked.
  if (from.proof != nullptr && from.proof->name != submit->job.tenant.str()) return std::nullopt;
  // Submitted again: answered from its record, and counted no second time.
  if (session->Find(submit->job.id) != nullptr) return std::nullopt;
  return AskOf(submit->job.tenant, submit->job.user, ledger_.tenants().Of(submit->job.tenant));
}

VerdictUse BrokerCore::OnRatedSubmit(const Peer& from, wire::Header header, std::vector<Payload> payloads,
                                     const RateVerdict& verdict, TimePoint now) {
  ledger_.rates().Expect(verdict);
  OnMessage(from, std::move(header), std::move(payloads), now);
  return ledger_.rates().TakeUnused() ? VerdictUse::kUnused : VerdictUse::kUsed;
}

void BrokerCore::ShareRates(RateSharing sharing, std::uint64_t brokers) {
  if (sharing == RateSharing::kLost && ledger_.rates().sharing() == RateSharing::kShared)
    ++counters_.redis_losses;
  ledger_.rates().Share(sharing, brokers);
}

}  // namespace skerry::broker
