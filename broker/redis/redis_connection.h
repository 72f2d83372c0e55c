// One connection to a Redis server, for one command at a time, each within a time. hiredis is used here
// alone.
//
//   auto connection = RedisConnection::Open(address, user, password, timeout);
//   auto answer = connection->RunScript(arguments);
//
// What comes from the server is bounded before it is kept: elements of a list, bytes of a text, pieces that
// an answer comes in. An answer that nobody asked for is a fault. After any error the connection is of no
// use.
//
// Threads: one; every call blocks for the timeout at the most, but for the resolving of a host's name, which
// takes as long as the system lets it. SIGPIPE must be blocked in that thread. Errors: kUnavailable, with
// what the server said where it said something; never the password.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/redis/redis_options.h"
#include "common/result.h"
#include "common/units.h"

struct redisContext;

namespace skerry::broker {

class RedisConnection {
 public:
  /// Far more than a batch's answers.
  static constexpr std::size_t kMaxElements = 16'384;
  static constexpr std::size_t kMaxTextBytes = 4'096;

  /// Connects, says who we are, chooses the database and loads `script`. Each of these within `timeout`.
  static Result<RedisConnection> Open(const RedisAddress& address, const std::string& user,
                                      const std::string& password, std::string_view script, Millis timeout);

  /// What the script returns, which must be integers: by its name, and as a whole where the server has
  /// forgotten it.
  Result<std::vector<std::int64_t>> RunScript(const std::vector<std::string>& arguments, Millis timeout);

 private:
  struct Free {
    void operator()(redisContext* context) const;
  };
  struct Reply;

  explicit RedisConnection(redisContext* context, std::string_view script)
      : context_(context), script_(script) {}

  Status Greet(const RedisAddress& address, const std::string& user, const std::string& password,
               Millis timeout);
  Result<Reply> Run(const std::vector<std::string>& words, Millis timeout);
  Status Write(const std::vector<std::string>& words);
  Result<Reply> Read(Millis timeout);
  /// `what`, and why hiredis says it went wrong.
  tl::unexpected<Error> Broken(const std::string& what) const;

  std::unique_ptr<redisContext, Free> context_;
  std::string script_;
  std::string script_name_;  // its SHA-1, as the server says it
};

}  // namespace skerry::broker
