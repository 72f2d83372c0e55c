// The Redis through which this machine's broker shares tenants' rates with others.
#include "clients/cli/doctor/probes.h"
#include "common/brokers/broker_place.h"

namespace skerry::cli::doctor {
namespace {

constexpr Millis kToResolve{300};
constexpr Millis kToAnswer{300};
constexpr const char* kCheck = "redis";
constexpr const char* kWhy = "without it each broker gives tenants a share of their rates by itself";
constexpr const char* kVariable = "SKERRY_REDIS_PASSWORD";

/// Of /PATH, HOST:PORT or HOST:PORT/DB, which the broker has checked; none where the name has no address.
std::string EndpointOf(Machine& machine, const std::string& address) {
  if (address.starts_with('/')) return "ipc://" + address;
  const std::string place = address.substr(0, address.find('/'));
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return {};
  const std::string host = place.substr(0, colon);
  const auto numeric = ParseBrokerPlace("tcp://" + place);
  if (numeric && numeric->kind == BrokerPlace::Kind::kEndpoint) return "tcp://" + place;
  const auto addresses = machine.Resolve(host, kToResolve);
  if (!addresses || addresses->empty()) return {};
  return TcpEndpoint(addresses->front(), place.substr(colon + 1));
}

std::string Trimmed(std::string text) {
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

}  // namespace

void ProbeRedis(Machine& machine, const ConfiguredRedis& configured, Findings& findings) {
  if (configured.address.empty()) return;
  RedisLogin login{configured.user, machine.Variable(kVariable).value_or("")};
  if (!configured.password_file.empty()) {
    const auto text = machine.ReadFile(configured.password_file);
    if (!text || Trimmed(*text).empty()) {
      findings.push_back(Bad(kCheck,
                             configured.password_file + (text ? ": holds no password" : ": cannot be read"),
                             "the broker does not start without the password that it is told of",
                             "write it there, chmod 600, owned by the user that the broker runs as"));
      return;
    }
    login.password = Trimmed(*text);
  }
  const std::string endpoint = EndpointOf(machine, configured.address);
  if (endpoint.empty()) {
    findings.push_back(Poor(kCheck, configured.address + ": the name has no address", kWhy,
                            "ask the name server's operator, or name an address"));
    return;
  }
  const auto answered = machine.PingRedis(endpoint, login, kToAnswer);
  if (answered) {
    findings.push_back(Good(kCheck, configured.address + ": answers", kWhy));
  } else {
    findings.push_back(Poor(kCheck, configured.address + ": " + FirstLine(answered.error().message), kWhy,
                            "start it, or correct redis, redis_user and redis_password_file of [broker]"));
  }
}

}  // namespace skerry::cli::doctor
