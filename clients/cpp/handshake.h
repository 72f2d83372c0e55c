// Whether a broker lets a key in, found out without a word to it: a connection is opened, its handshake
// awaited, and it is closed.
//
//   Status open = TryHandshake({"tcp://broker.lan:7001", "client.key", "rq:rM>}U..."}, Role::kClient, 1s);
//
// Threads: any; waits for at most `patience`. Errors: kInvalid, keys and files that do not fit together;
// kUnavailable, nobody answers or the key is refused, and what to do.
#pragma once

#include "common/keys/link_keys.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::client {

Status TryHandshake(const keys::LinkSettings& at, keys::Role role, Millis patience);

}  // namespace skerry::client
