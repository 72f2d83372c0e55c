#include "tests/support/key_ring.h"

#include <map>
#include <stdexcept>

#include "common/hash.h"
#include "tests/support/places.h"

namespace skerry::testing {
namespace {

void Write(const std::string& path, const keys::KeyFile& file) {
  if (const auto written = keys::WriteKeyFile(path, file); !written)
    throw std::runtime_error(written.error().message);
}

}  // namespace

KeyRing::KeyRing(std::filesystem::path folder) : folder_(std::move(folder)) {
  Write(folder_ / "broker.key", {keys::Role::kBroker, "", broker_});
}

keys::LinkKeys KeyRing::Add(keys::Role role, const std::string& owner) {
  const bool client = role == keys::Role::kClient;
  keys::LinkKeys link{{role, client ? owner : "", keys::SecretKey::Generate()}, broker_.Public()};
  listed_.push_back({role, owner, link.own.secret.Public().text()});
  Write(FileOf(link), link.own);
  return link;
}

void KeyRing::Drop(const keys::LinkKeys& link) {
  std::erase_if(listed_,
                [key = link.own.secret.Public().text()](const Listed& one) { return one.key == key; });
}

void KeyRing::Revoke(const keys::LinkKeys& link) {
  revoked_.push_back(link.own.secret.Public().text());
}

void KeyRing::Publish() const {
  std::string text = "revoked = [";
  for (const std::string& key : revoked_) text += "\"" + key + "\", ";
  text += "]\n";
  for (const auto& [role, table] : {std::pair(keys::Role::kClient, "clients"),
                                    {keys::Role::kWorker, "workers"},
                                    {keys::Role::kAdmin, "admins"}}) {
    std::map<std::string, std::string> keys_of;
    for (const Listed& one : listed_) {
      if (one.role == role) keys_of[one.owner] += "\"" + one.key + "\", ";
    }
    text += std::string("[") + table + "]\n";
    for (const auto& [owner, keys] : keys_of) text += "\"" + owner + "\" = [" + keys + "]\n";
  }
  // Whole or not at all, as an operator should.
  WriteFile(folder_ / "authorized.new", text);
  using std::filesystem::perms;
  std::filesystem::permissions(folder_ / "authorized.new", perms::owner_read | perms::owner_write);
  std::filesystem::rename(folder_ / "authorized.new", folder_ / "authorized.toml");
}

std::vector<std::string> KeyRing::BrokerFlags() const {
  return {"--key", folder_ / "broker.key", "--authorized", folder_ / "authorized.toml"};
}

std::vector<std::string> KeyRing::FlagsOf(const keys::LinkKeys& link) const {
  return {"--key", FileOf(link), "--broker-key", broker_key()};
}

std::string KeyRing::FileOf(const keys::LinkKeys& link) const {
  // Keys are full of what a path must not hold.
  return folder_ / (Hex(Sha256(link.own.secret.Public().text())).substr(0, 16) + ".key");
}

}  // namespace skerry::testing
