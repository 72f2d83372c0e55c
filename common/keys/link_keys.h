// What a client or a worker needs to reach a broker over TCP: a key of its own, and the broker's public one.
//
//   auto keys = LoadLinkKeys({"tcp://broker.lan:7001", "client.key", "rq:rM>}U..."}, Role::kClient);
//   if (keys && *keys) ... encrypted;   if (keys && !*keys) ... ipc:// or loopback, plain
//
// Threads: any. Errors: kInvalid: endpoint, files and keys that do not fit together, and what to do,
// beginning with the setting's name. Never a plain link where keys were named, and never one that leaves the
// machine.
#pragma once

#include <optional>
#include <string>

#include "common/keys/key_file.h"
#include "common/result.h"

namespace skerry::keys {

struct LinkSettings {
  std::string endpoint;
  std::string key_file;    ///< empty: none
  std::string broker_key;  ///< the broker's public key; empty: none
};

struct LinkKeys {
  KeyFile own;
  PublicKey broker;
};

/// Nothing: a plain link. That is so on ipc://, whose file's permissions protect it, keys or not; and on
/// loopback where no key is named.
Result<std::optional<LinkKeys>> LoadLinkKeys(const LinkSettings& settings, Role role);

}  // namespace skerry::keys
