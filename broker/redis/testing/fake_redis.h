// A server that is no Redis: it says what a test has it say to each command, or nothing.
//
//   FakeRedis fake([](int command) { return command == 0 ? FakeRedis::kLoaded : ":1\r\n"; });
//   connect to fake.path()
//
// Threads: one of its own, for one connection after the other. Ownership: the destructor closes all and
// removes the socket.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "common/fd.h"

namespace skerry::broker::testing {

class FakeRedis {
 public:
  /// What SCRIPT LOAD is to answer.
  static constexpr const char* kLoaded = "$40\r\n0123456789abcdef0123456789abcdef01234567\r\n";
  /// What it answers to the nth command of a connection, from 0. kClose: it closes the connection; empty: it
  /// says nothing.
  static constexpr const char* kClose = "close";
  using Answer = std::function<std::string(int)>;

  explicit FakeRedis(Answer answer);
  ~FakeRedis();
  FakeRedis(const FakeRedis&) = delete;
  FakeRedis& operator=(const FakeRedis&) = delete;

  const std::string& path() const { return path_; }

 private:
  void Serve();
  void ServeOne(int peer);
  bool Await(int fd) const;

  const Answer answer_;
  const std::string path_;
  Fd listener_;
  Fd stop_;
  std::thread thread_;
};

}  // namespace skerry::broker::testing
