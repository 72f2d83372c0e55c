// A program under test as a child process, in a process group of its own that ends with the test.
//
//   Child child({"/usr/bin/env", "true"}, {.stdout_path = dir / "out"});
//   EXPECT_EQ(child.Wait(std::chrono::seconds(5)), 0);
//
// Threads: a Child belongs to one thread, and to the one that started it: the kernel kills the child when
// that thread ends. Ownership: the destructor kills the whole group and reaps the child. Errors: a program
// that cannot be executed exits with 127.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"

namespace skerry::testing {

struct ChildStreams {
  std::filesystem::path stdin_path = "/dev/null";
  std::filesystem::path stdout_path = "/dev/null";
  std::filesystem::path stderr_path = "/dev/null";
};

class Child {
 public:
  explicit Child(const std::vector<std::string>& argv, const ChildStreams& streams = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  /// Not ended yet, as far as the kernel knows.
  bool IsRunning();
  void Signal(int signal);
  /// The exit code, or minus the signal that ended it; nothing when it still runs after `patience`.
  std::optional<int> Wait(std::chrono::milliseconds patience);

 private:
  pid_t pid_ = -1;
  Fd pidfd_;
  std::optional<int> ended_;
};

}  // namespace skerry::testing
