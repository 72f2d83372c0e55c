#include "broker/admin/admin_desk.h"

#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "common/printable.h"
#include "common/utf8.h"
#include "common/version.h"
#include "common/wire/admin_codec.h"
#include "common/wire/negotiate.h"

namespace skerry::broker {
namespace {

constexpr std::size_t kMaxDenialBytes = 1024;

AdminAnswer Deny(std::uint64_t number, std::string reason) {
  reason = WithoutControls(std::move(reason));
  return {wire::Denied{number, std::string(CutUtf8(reason, kMaxDenialBytes))}, {}};
}

template <class Row>
AdminAnswer Tell(const wire::Ask& ask, const std::vector<Row>& rows, std::string next = {}) {
  AdminAnswer answer;
  for (const Row& row : rows) wire::AppendRow(answer.rows, row);
  answer.header = wire::Told{wire::kAdminVersion, ask.number, rows.size(), std::move(next)};
  return answer;
}

PageRequest PageOf(const wire::Ask& ask) {
  return {ask.after, ask.rows == 0 ? wire::kMaxAdminRows : ask.rows};
}

}  // namespace

AdminAnswer AdminDesk::Answer(std::string_view header, TimePoint now) {
  auto message = wire::DecodeAdmin(header);
  if (!message) return Deny(0, "broken message: " + message.error().message);
  const auto* ask = std::get_if<wire::Ask>(&*message);
  if (ask == nullptr) return Deny(0, "this socket answers questions only");
  const auto version = wire::AgreeOnVersion({wire::kOldestAdminVersion, wire::kAdminVersion},
                                            {ask->oldest_version, ask->version}, "admin tool");
  if (!version) return Deny(ask->number, version.error().message);
  AdminAnswer answer = Answer(*ask, now);
  if (auto* told = std::get_if<wire::Told>(&answer.header)) told->version = *version;
  return answer;
}

AdminAnswer AdminDesk::Answer(const wire::Ask& ask, TimePoint now) {
  if (ask.what == wire::question::kBroker) {
    const auto up = std::chrono::duration_cast<Millis>(now - began_);
    auto row = core_.Report().Broker(up);
    row.instance = instance_;
    return Tell(ask, std::vector{std::move(row)});
  }
  if (ask.what == wire::question::kWorkers) return Workers(ask, now);
  if (ask.what == wire::question::kTenants) return Tenants(ask);
  if (ask.what == wire::question::kDrain) return Drain(ask, OperatorDrain::kOn, now);
  if (ask.what == wire::question::kUndrain) return Drain(ask, OperatorDrain::kOff, now);
  return Deny(ask.number, "this broker (" + std::string(kSkerrySoftware) + ") does not know the question '" +
                              ask.what + "': upgrade the broker");
}

AdminAnswer AdminDesk::Workers(const wire::Ask& ask, TimePoint now) const {
  if (!ask.id.empty()) {
    auto row = core_.Report().OneWorker(SessionId(ask.id), now);
    return Tell(ask, row ? std::vector{*std::move(row)} : std::vector<wire::WorkerRow>());
  }
  auto page = core_.Report().Workers(PageOf(ask), now);
  return Tell(ask, page.rows, std::move(page.next));
}

AdminAnswer AdminDesk::Tenants(const wire::Ask& ask) const {
  if (!ask.id.empty()) {
    auto row = core_.Report().OneTenant(TenantId(ask.id));
    return Tell(ask, row ? std::vector{*std::move(row)} : std::vector<wire::TenantRow>());
  }
  auto page = core_.Report().Tenants(PageOf(ask));
  return Tell(ask, page.rows, std::move(page.next));
}

AdminAnswer AdminDesk::Drain(const wire::Ask& ask, OperatorDrain drain, TimePoint now) {
  const Worker* worker = core_.SetDrain(SessionId(ask.id), drain, now);
  if (worker == nullptr) return Deny(ask.number, "no worker '" + ask.id + "' is connected to this broker");
  return Tell(ask, std::vector{RowOf(*worker, now)});
}

}  // namespace skerry::broker
