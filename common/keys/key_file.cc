#include "common/keys/key_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "common/fd.h"
#include "common/ids.h"
#include "common/keys/guarded_file.h"

namespace skerry::keys {
namespace {

constexpr std::size_t kMaxFileBytes = 4096;
constexpr std::array<std::string_view, 4> kRoles = {"client", "worker", "broker", "admin"};

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// `NAME = "TEXT"`; neither escapes nor anything else of TOML's.
std::optional<std::pair<std::string, std::string>> ReadLine(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view value = Trimmed(line.substr(equals + 1));
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::nullopt;
  const std::string_view inner = value.substr(1, value.size() - 2);
  if (inner.find_first_of("\"\\") != std::string_view::npos) return std::nullopt;
  return std::pair(std::string(Trimmed(line.substr(0, equals))), std::string(inner));
}

/// "a worker", "an admin".
std::string OneOf(Role role) {
  return (role == Role::kAdmin ? "an " : "a ") + std::string(NameOf(role));
}

using Fields = std::map<std::string, std::string>;

Result<Fields> ReadFields(std::string_view text, const std::string& name) {
  Fields fields;
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = Trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::string at = name + ":" + std::to_string(number) + ": ";
    auto field = ReadLine(line);
    if (!field)
      return Fail(ErrorKind::kInvalid, at + "is not NAME = \"TEXT\": this is no key file of `skerry keygen`");
    if (!fields.insert(std::move(*field)).second)
      return Fail(ErrorKind::kInvalid, at + "a name that was there before");
  }
  return fields;
}

}  // namespace

std::string_view NameOf(Role role) {
  return kRoles[static_cast<std::size_t>(role)];
}

Result<Role> RoleByName(std::string_view name) {
  for (std::size_t i = 0; i < kRoles.size(); ++i) {
    if (name == kRoles[i]) return static_cast<Role>(i);
  }
  return Fail(ErrorKind::kInvalid, "a key's role must be client, worker, broker or admin");
}

bool IsKeyOwnersName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxOwnersNameBytes && IsPrintableId(name) &&
         name.find_first_of("/\"\\") == std::string_view::npos;
}

Result<KeyFile> ParseKeyFile(std::string_view text, const std::string& name) {
  auto fields = ReadFields(text, name);
  if (!fields) return Fail(fields.error());
  const auto wrong = [&](const std::string& what) { return Fail(ErrorKind::kInvalid, name + ": " + what); };
  for (const auto& [field, value] : *fields) {
    if (field != "role" && field != "tenant" && field != "public" && field != "secret") {
      return wrong("unknown name '" + field.substr(0, 64) +
                   "'; a key file has role, tenant, public and secret");
    }
  }
  const auto role = RoleByName((*fields)["role"]);
  if (!role) return wrong(role.error().message);
  auto secret = SecretKey::Parse((*fields)["secret"]);
  if (!secret) return wrong(secret.error().message);
  if (secret->Public().text() != (*fields)["public"]) return wrong("public and secret are not of one pair");
  std::string tenant = (*fields)["tenant"];
  if (!tenant.empty() && !IsKeyOwnersName(tenant)) return wrong(std::string("tenant ") + kOwnersNameRule);
  return KeyFile{*role, std::move(tenant), std::move(*secret)};
}

Result<KeyFile> ReadKeyFile(const std::string& path, Role role) {
  const auto text = ReadGuardedFile(path, Guard::kSecret, kMaxFileBytes);
  if (const auto any = text ? text : ReadGuardedFile(path, Guard::kNone, kMaxFileBytes);
      any && any->find("secret") == std::string::npos) {
    return Fail(ErrorKind::kInvalid,
                path + ": holds no secret (a public key alone?): this must be the file of `skerry keygen`");
  }
  if (!text) return Fail(text.error());
  auto file = ParseKeyFile(*text, path);
  if (file && file->role != role) {
    return Fail(ErrorKind::kInvalid, path + ": is " + OneOf(file->role) + "'s key; " + OneOf(role) +
                                         " needs one of its own (skerry keygen --role " +
                                         std::string(NameOf(role)) + ")");
  }
  return file;
}

std::string KeyFileText(const KeyFile& file) {
  const std::string role(NameOf(file.role));
  std::string text = "# A Skerry " + role +
                     " key (skerry keygen). Keep it to yourself: whoever has the secret is this " + role +
                     ".\nrole = \"" + role + "\"\n";
  if (!file.tenant.empty()) text += "tenant = \"" + file.tenant + "\"\n";
  return text + "public = \"" + file.secret.Public().text() + "\"\nsecret = \"" + file.secret.text() + "\"\n";
}

Status WriteKeyFile(const std::string& path, const KeyFile& file) {
  const auto failed = [&](const char* why) {
    return Fail(ErrorKind::kUnavailable, path + ": cannot be written: " + why);
  };
  Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid() && errno == EEXIST) {
    return Fail(ErrorKind::kInvalid,
                path + ": is there already, and a key is never replaced: name another file with -o");
  }
  if (!fd.valid()) return failed(std::strerror(errno));
  const std::string text = KeyFileText(file);
  const bool whole = write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (whole && fsync(fd.get()) == 0) return {};
  const int error = errno;
  unlink(path.c_str());  // half a key is none
  return failed(std::strerror(error));
}

}  // namespace skerry::keys
