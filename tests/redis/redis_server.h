// A redis-server of a test's own: on a socket in a folder of its own, nothing kept on disk.
//
//   SKERRY_NEEDS_REDIS();
//   RedisServer redis;
//   pool.broker_args = {"--redis", redis.path(), ...};
//   redis.Kill(); redis.Start();
//
// Threads: the test's. Ownership: ends with the test. Errors: one that does not come up fails the test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/places.h"

#define SKERRY_NEEDS_REDIS()                     \
  if (!::skerry::testing::RedisServer::IsHere()) \
  GTEST_SKIP() << "there is no /usr/bin/redis-server (Debian's redis-server)"

namespace skerry::testing {

class RedisServer {
 public:
  static bool IsHere();

  /// `args`: more of redis-server's own.
  explicit RedisServer(std::vector<std::string> args = {});

  std::string path() const { return dir_ / "redis.sock"; }
  void Start();
  /// SIGKILL: what it knew is gone.
  void Kill();
  /// SIGSTOP, SIGCONT.
  void Signal(int signal) { server_->Signal(signal); }
  std::string Log() const { return ReadFile(dir_ / "log"); }

 private:
  TempDir dir_;
  const std::vector<std::string> args_;
  std::unique_ptr<Child> server_;
};

}  // namespace skerry::testing
