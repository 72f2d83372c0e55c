// Which endpoints may be used while there is no CURVE: this machine's own (DESIGN section 8).
//
// Threads: pure functions. Errors: kInvalid, saying what is allowed.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace skerry::agent {

/// ipc://PATH, or tcp:// with localhost, 127.0.0.0/8 or [::1].
Status CheckLocalEndpoint(std::string_view url);

}  // namespace skerry::agent
