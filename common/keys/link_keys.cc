#include "common/keys/link_keys.h"

#include <utility>

#include "common/endpoint.h"

namespace skerry::keys {
namespace {

struct SettingNames {
  const char* endpoint;
  const char* key;
  const char* key_flag;
};

/// A person may have a key for jobs and another for looking on, so these have settings of their own.
const SettingNames& NamesFor(Role role) {
  static constexpr SettingNames kOfPeers = {"broker", "key", "--key"};
  static constexpr SettingNames kOfOperators = {"admin", "admin_key", "--admin-key"};
  return role == Role::kAdmin ? kOfOperators : kOfPeers;
}

}  // namespace

Result<std::optional<LinkKeys>> LoadLinkKeys(const LinkSettings& settings, Role role) {
  const SettingNames& names = NamesFor(role);
  const std::string setting = names.endpoint;
  const auto reach = ReachOf(settings.endpoint);
  if (!reach) return Fail(ErrorKind::kInvalid, setting + ": " + reach.error().message);
  if (*reach == Reach::kSocketFile) return std::optional<LinkKeys>();
  const bool own = !settings.key_file.empty();
  const bool brokers = !settings.broker_key.empty();
  if (!own && !brokers && *reach == Reach::kLoopback) return std::optional<LinkKeys>();
  const std::string who(NameOf(role));
  if (!own) {
    return Fail(ErrorKind::kInvalid,
                setting + ": endpoint '" + settings.endpoint +
                    "' is refused without a key: make one with `skerry keygen --role " + who +
                    "`, have the broker's operator authorize it, and name it with " + names.key_flag +
                    (brokers ? "" : ", and the broker's public key with --broker-key"));
  }
  if (!brokers)
    return Fail(ErrorKind::kInvalid, std::string("broker_key: is needed beside ") + names.key_flag +
                                         ": the public key of the broker");
  auto broker = PublicKey::Parse(settings.broker_key);
  if (!broker) return Fail(ErrorKind::kInvalid, "broker_key: " + broker.error().message);
  auto file = ReadKeyFile(settings.key_file, role);
  if (!file) return Fail(ErrorKind::kInvalid, std::string(names.key) + ": " + file.error().message);
  return std::optional<LinkKeys>(LinkKeys{std::move(*file), std::move(*broker)});
}

}  // namespace skerry::keys
