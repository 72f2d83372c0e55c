#include "broker/door/authorized_keys.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "common/config/config_file.h"
#include "common/keys/guarded_file.h"
#include "common/keys/key_file.h"

namespace skerry::broker {
namespace {

using config::TextList;

struct Table {
  std::string_view name;
  Side side;
};
constexpr std::array kTables = {Table{"clients", Side::kClient}, Table{"workers", Side::kWorker},
                                Table{"admins", Side::kAdmin}};

// TOML puts a line below a table into it: there the list of who is kept out would be one of who is let in.
constexpr std::string_view kRevoked = "revoked";

/// The one that a path is in: "clients.acme".
const Table* TableOf(std::string_view path) {
  const auto* found = std::find_if(kTables.begin(), kTables.end(), [&](const Table& table) {
    return path.starts_with(table.name) && path.substr(table.name.size()).starts_with('.');
  });
  return found == kTables.end() ? nullptr : found;
}

/// A list of texts, or one text for a list of one; null where it is anything else.
const TextList* Texts(const config::Entry& entry, TextList& one) {
  const auto* value = std::get_if<config::Value>(&entry.value);
  if (value == nullptr) return nullptr;
  if (const auto* list = std::get_if<TextList>(value)) return list;
  if (const auto* text = std::get_if<std::string>(value)) {
    one = {*text};
    return &one;
  }
  return nullptr;
}

}  // namespace

/// Takes one entry after the other, and keeps what is wrong with them.
class AuthorizedKeys::Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  void Take(const config::Entry& entry) {
    if (std::holds_alternative<config::TableValue>(entry.value)) {
      for (const Table& table : kTables) {
        if (entry.path == table.name) return;
      }
      return Complain(
          entry, "there is no table '" + config::Shown(entry.path) + "': only clients, workers and admins");
    }
    if (entry.path == kRevoked) return TakeRevoked(entry);
    if (const Table* table = TableOf(entry.path))
      return TakeOwner(entry, table->side, entry.path.substr(table->name.size() + 1));
    Complain(entry, "unknown name '" + config::Shown(entry.path) +
                        "': there are revoked, and tables clients, workers and admins of NAME = [KEYS]");
  }

  Result<AuthorizedKeys> Finish() {
    if (keys_.owners_.size() + keys_.revoked_.size() > kMaxKeys) {
      faults_ += (faults_.empty() ? "" : "\n") + name_ + ": more than " + std::to_string(kMaxKeys) + " keys";
    }
    if (!faults_.empty()) return Fail(ErrorKind::kInvalid, faults_);
    return std::move(keys_);
  }

 private:
  void Complain(const config::Entry& entry, const std::string& what) {
    faults_ += (faults_.empty() ? "" : "\n") + name_ + ":" + std::to_string(entry.line) + ": " + what;
  }

  template <class Use>
  void ForEachKey(const config::Entry& entry, Use use) {
    TextList one;
    const TextList* texts = Texts(entry, one);
    if (texts == nullptr)
      return Complain(entry, config::Shown(entry.path) + " must be a list of public keys");
    for (const std::string& text : *texts) {
      auto key = keys::PublicKey::Parse(text);
      if (!key) {
        Complain(entry, config::Shown(entry.path) + ": " + key.error().message);
      } else {
        use(key->text());
      }
    }
  }

  void TakeRevoked(const config::Entry& entry) {
    ForEachKey(entry, [&](const std::string& key) { keys_.revoked_.insert(key); });
  }

  void TakeOwner(const config::Entry& entry, Side side, const std::string& owner) {
    if (owner == kRevoked) {
      return Complain(entry,
                      "revoked must stand above the first table: here it would authorize its keys, for '" +
                          entry.path + "'");
    }
    if (!keys::IsKeyOwnersName(owner)) {
      return Complain(entry, "the name '" + config::Shown(owner) + "' " + keys::kOwnersNameRule);
    }
    ForEachKey(entry, [&](const std::string& key) {
      const auto [at, fresh] = keys_.owners_.try_emplace(key, nullptr);
      if (!fresh) {
        return Complain(entry,
                        "key " + key + " is listed before, for '" + config::Shown(at->second->name) + "'");
      }
      at->second = std::make_shared<const Identity>(Identity{side, owner, key});
    });
  }

  std::string name_;
  AuthorizedKeys keys_;
  std::string faults_;
};

Result<AuthorizedKeys> AuthorizedKeys::Parse(std::string_view text, const std::string& name) {
  const auto file = config::ParseConfig(text, name);
  if (!file) return Fail(file.error());
  Reader reader(name);
  for (const config::Entry& entry : file->entries) reader.Take(entry);
  return reader.Finish();
}

Result<AuthorizedKeys> AuthorizedKeys::Load(const std::string& path) {
  const auto text = keys::ReadGuardedFile(path, keys::Guard::kTrusted, kMaxFileBytes);
  if (!text) return Fail(text.error());
  return Parse(*text, path);
}

Proof AuthorizedKeys::Find(const std::string& key) const {
  const auto found = owners_.find(key);
  return found == owners_.end() || IsRevoked(key) ? nullptr : found->second;
}

bool AuthorizedKeys::Allows(const Identity& who) const {
  const Proof owner = Find(who.key);
  return owner != nullptr && *owner == who;
}

Status AuthorizedKeys::MayFollow(const AuthorizedKeys& in_force) const {
  if (size() > 0 || in_force.size() == 0) return {};
  return Fail(ErrorKind::kInvalid,
              "the list names nobody: is the file cut off? (To keep everybody out, leave the keys in their "
              "tables and list them under revoked, too.)");
}

}  // namespace skerry::broker
