// Whether a Redis answers, and takes a password.
//
// Threads: any. Errors: kUnavailable: why it cannot be used, as the kernel or Redis says.
#pragma once

#include <string>

#include "common/result.h"
#include "common/units.h"

namespace skerry::cli::doctor {

struct RedisLogin {
  std::string user;      ///< empty: the default one
  std::string password;  ///< empty: none
};

/// AUTH, where there is a password, and PING. `endpoint`: ipc://PATH, or tcp:// with a numeric address.
Status PingRedis(const std::string& endpoint, const RedisLogin& login, Millis patience);

}  // namespace skerry::cli::doctor
