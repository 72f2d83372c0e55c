// The brokers that this machine's worker and client are configured to use: each is tried.
#include <cstring>

#include "clients/cli/doctor/probes.h"
#include "common/brokers/broker_keys.h"
#include "common/brokers/broker_place.h"

namespace skerry::cli::doctor {
namespace {

constexpr Millis kToResolve{500};
constexpr Millis kToConnect{500};
// All together; who is left then is not tried, which is no fault of his.
constexpr Millis kToShakeHands{1'000};
constexpr const char* kWhy = "worker and client work with the brokers that answer";

/// The addresses that a place stands for; none where that is a finding of its own.
std::vector<BrokerAddress> AddressesOf(Machine& machine, const std::string& check, const BrokerPlace& place,
                                       Findings& findings) {
  if (place.kind == BrokerPlace::Kind::kEndpoint) return {{place.text, place.key}};
  std::vector<BrokerAddress> all;
  if (place.kind == BrokerPlace::Kind::kFile) {
    const auto text = machine.ReadFile(place.path);
    const auto inner = ParseBrokerFile(text.value_or(""));
    if (!inner) {
      findings.push_back(Poor(check, place.text + ": " + (text ? inner.error().message : "cannot be read"),
                              kWhy, "write one endpoint a line"));
      return {};
    }
    for (const BrokerPlace& listed : *inner) {
      for (BrokerAddress& address : AddressesOf(machine, check, listed, findings))
        all.push_back(std::move(address));
    }
    return all;
  }
  const auto addresses = machine.Resolve(place.host, kToResolve);
  if (!addresses || addresses->empty()) {
    findings.push_back(Poor(check,
                            place.text + ": " + (addresses ? "has no address" : addresses.error().message),
                            kWhy, "ask the name server's operator, or name an address"));
    return {};
  }
  for (const std::string& address : *addresses) all.push_back({TcpEndpoint(address, place.port), place.key});
  return all;
}

/// Somebody listens there.
Finding TryKey(Machine& machine, const ConfiguredBrokers& configured, const BrokerAddress& address,
               Millis patience) {
  const std::string& check = configured.check;
  if (!address.endpoint.starts_with("tcp://") || patience <= Millis(0))
    return Good(check, address.endpoint + ": somebody listens", kWhy);
  const auto open = machine.TryHandshake(LinkTo(address, configured.key_file, configured.broker_key),
                                         configured.role, patience);
  if (!open) {
    return Bad(check, address.endpoint + ": " + FirstLine(open.error().message),
               "links by TCP are encrypted, and only who is authorized is let in",
               "ops/README.md, Several machines, says how keys are made, listed and replaced");
  }
  return Good(check,
              address.endpoint + (configured.key_file.empty() ? ": somebody listens" : ": lets this key in"),
              kWhy);
}

}  // namespace

void ProbeBrokers(Machine& machine, const ConfiguredBrokers& configured, Findings& findings) {
  std::vector<BrokerAddress> addresses;
  for (const std::string& text : configured.places) {
    const auto place = ParseBrokerPlace(text);
    if (!place) continue;  // said by the process itself
    for (BrokerAddress& address : AddressesOf(machine, configured.check, *place, findings))
      addresses.push_back(std::move(address));
  }
  if (addresses.size() > kMaxBrokers) addresses.resize(kMaxBrokers);
  std::vector<std::string> endpoints;
  for (const BrokerAddress& address : addresses) endpoints.push_back(address.endpoint);
  const std::vector<int> errors = machine.Connect(endpoints, kToConnect);
  const TimePoint end = SteadyClock::now() + kToShakeHands;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (errors[i] == 0) {
      const auto left = std::chrono::duration_cast<Millis>(end - SteadyClock::now());
      findings.push_back(TryKey(machine, configured, addresses[i], left));
    } else {
      findings.push_back(Poor(configured.check, endpoints[i] + ": " + std::strerror(errors[i]), kWhy,
                              "start that broker, or take it off the list"));
    }
  }
}

}  // namespace skerry::cli::doctor
