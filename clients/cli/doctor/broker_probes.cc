// The brokers that this machine's worker and client are configured to use: each is tried.
#include <cstring>

#include "clients/cli/doctor/probes.h"
#include "common/brokers/broker_place.h"

namespace skerry::cli::doctor {
namespace {

constexpr Millis kToResolve{500};
constexpr Millis kToConnect{500};
constexpr const char* kWhy = "worker and client work with the brokers that answer";

/// The endpoints that a place stands for; none where that is a finding of its own.
std::vector<std::string> EndpointsOf(Machine& machine, const std::string& check, const BrokerPlace& place,
                                     Findings& findings) {
  if (place.kind == BrokerPlace::Kind::kEndpoint) return {place.text};
  std::vector<std::string> endpoints;
  if (place.kind == BrokerPlace::Kind::kFile) {
    const auto text = machine.ReadFile(place.path);
    const auto inner = ParseBrokerFile(text.value_or(""));
    if (!inner) {
      findings.push_back(Poor(check, place.text + ": " + (text ? inner.error().message : "cannot be read"),
                              kWhy, "write one endpoint a line"));
      return {};
    }
    for (const BrokerPlace& listed : *inner) {
      for (std::string& endpoint : EndpointsOf(machine, check, listed, findings))
        endpoints.push_back(std::move(endpoint));
    }
    return endpoints;
  }
  const auto addresses = machine.Resolve(place.host, kToResolve);
  if (!addresses || addresses->empty()) {
    findings.push_back(Poor(check,
                            place.text + ": " + (addresses ? "has no address" : addresses.error().message),
                            kWhy, "ask the name server's operator, or name an address"));
    return {};
  }
  for (const std::string& address : *addresses) endpoints.push_back(TcpEndpoint(address, place.port));
  return endpoints;
}

}  // namespace

void ProbeBrokers(Machine& machine, const std::string& check, const std::vector<std::string>& places,
                  Findings& findings) {
  std::vector<std::string> endpoints;
  for (const std::string& text : places) {
    const auto place = ParseBrokerPlace(text);
    if (!place) continue;  // said by the process itself
    for (std::string& endpoint : EndpointsOf(machine, check, *place, findings))
      endpoints.push_back(std::move(endpoint));
  }
  if (endpoints.size() > kMaxBrokers) endpoints.resize(kMaxBrokers);
  const std::vector<int> errors = machine.Connect(endpoints, kToConnect);
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    if (errors[i] == 0) {
      findings.push_back(Good(check, endpoints[i] + ": somebody listens", kWhy));
    } else {
      findings.push_back(Poor(check, endpoints[i] + ": " + std::strerror(errors[i]), kWhy,
                              "start that broker, or take it off the list"));
    }
  }
}

}  // namespace skerry::cli::doctor
