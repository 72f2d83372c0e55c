// A secret key in a file, as `skerry keygen` writes it: TOML of one text a line.
//
//   # A Skerry client key. ...
//   role = "client"
//   tenant = "acme"
//   public = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
//   secret = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
//
// Threads: any. Ownership: values. Errors: one line that names the file, and never shows a secret. A file
// that others can read is refused.
#pragma once

#include <string>
#include <string_view>

#include "common/keys/key.h"
#include "common/result.h"

namespace skerry::keys {

enum class Role : unsigned char { kClient, kWorker, kBroker, kAdmin };
std::string_view NameOf(Role role);
/// kInvalid where `name` is no role.
Result<Role> RoleByName(std::string_view name);

struct KeyFile {
  Role role = Role::kClient;
  std::string tenant;  ///< of a client's key, the tenant that it was made for; may be empty
  SecretKey secret;
};

/// `name` is what faults call it.
Result<KeyFile> ParseKeyFile(std::string_view text, const std::string& name);
/// Errors: as ReadGuardedFile's; and where `role` is not the file's.
Result<KeyFile> ReadKeyFile(const std::string& path, Role role);
std::string KeyFileText(const KeyFile& file);
/// A new file that its owner alone can read. Errors: one that is there already is never replaced.
Status WriteKeyFile(const std::string& path, const KeyFile& file);

/// Whether a tenant or a worker can be named so by a key. `/` parts names from session ids in the broker,
/// which leave half of an id to them; quotes and backslashes would need escapes here.
bool IsKeyOwnersName(std::string_view name);
inline constexpr std::size_t kMaxOwnersNameBytes = 128;
inline constexpr const char* kOwnersNameRule =
    "must be 1 to 128 bytes without control characters, slash, backslash and double quote";

}  // namespace skerry::keys
