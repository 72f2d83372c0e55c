// How to reach the Redis through which brokers share rates, as an operator says it.
//
// Threads: plain data. Errors: CheckAddress and CheckPrefix say what the text must be; neither shows it,
// since somebody may have put a password in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "common/units.h"

namespace skerry::broker {

struct RedisOptions {
  std::string address;  ///< "/PATH" of a socket, or HOST:PORT, or HOST:PORT/DB; empty: no Redis
  std::string user;     ///< of its ACL; empty: the default one
  /// File of the password, readable by its owner alone; empty: the variable kPasswordVariable, or none.
  std::string password_file;
  std::string prefix = "skerry:";  ///< all keys begin with it
  /// How long a job waits for Redis at the most, 1 ms to 10 s. Then Redis counts as lost.
  Millis timeout{50};
  /// How many brokers there are as long as Redis has not said it, 1 to 1024.
  std::uint64_t brokers = 1;
};

inline constexpr const char* kPasswordVariable = "SKERRY_REDIS_PASSWORD";

struct RedisAddress {
  std::string path;  ///< of a socket; empty: by TCP
  std::string host;
  int port = 0;
  int database = 0;
};

Result<RedisAddress> ParseAddress(std::string_view text);
Status CheckAddress(std::string_view text);
/// 1 to 64 printable ASCII characters without blanks and braces (those would name a cluster's slot).
Status CheckPrefix(std::string_view text);

/// The password, or nothing. kInvalid: a file that is not there, is no file, is empty or too long, or that
/// others may read.
Result<std::string> ReadPassword(const RedisOptions& options);

}  // namespace skerry::broker
