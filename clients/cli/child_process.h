// A program of ours started beside us, which never outlives us.
//
// The child is in a process group of its own (Ctrl-C at the terminal is ours to handle) and gets SIGKILL from
// the kernel when the thread that started it ends, so Start must be called on the main thread.
//
// Ownership: the destructor stops and reaps it. Threads: one. Errors: Start says what could not be run.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "common/units.h"

namespace skerry::cli {

/// What a child is told by variables and files.
enum class Surroundings : std::uint8_t {
  kInherited,  ///< ours
  /// Ours without settings of brokers and workers, and no configuration file: a pool of one run is what its
  /// flags say, whatever this machine's own pool is set to.
  kPrivate,
};

/// Where its stdout goes; ours is for results only.
enum class Stdout : std::uint8_t { kToStderr, kNowhere };

class ChildProcess {
 public:
  /// `arguments` without the program itself.
  static Result<ChildProcess> Start(const std::string& program, const std::vector<std::string>& arguments,
                                    Surroundings surroundings = Surroundings::kInherited,
                                    Stdout out = Stdout::kToStderr);
  ~ChildProcess() { Stop(Millis(0)); }
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// How it ended ("exited with status 1", "was killed by signal 9"), or nothing while it runs.
  std::optional<std::string> Ended();
  /// Once Ended: its exit status; none where a signal ended it.
  std::optional<int> exit_status() const { return exit_status_; }
  /// The first SIGTERM, without waiting for what it does.
  void Terminate();
  /// The second SIGTERM for one that had the first, a worker's word for "now"; nothing for others.
  void Urge();
  /// SIGTERM unless it had it, then SIGTERM again after half the grace (a worker's word for "now"), then
  /// SIGKILL; reaps it.
  void Stop(Millis grace);
  const std::string& program() const { return program_; }
  /// Names nothing any more once it has Ended.
  pid_t pid() const { return pid_; }

 private:
  ChildProcess(std::string program, pid_t pid) : program_(std::move(program)), pid_(pid) {}
  bool EndsWithin(Millis time);

  std::string program_;
  pid_t pid_ = -1;
  std::optional<std::string> ended_;
  std::optional<int> exit_status_;
  bool terminated_ = false;
};

/// As Stop for each of them, with one grace for all.
void StopTogether(const std::vector<ChildProcess*>& children, Millis grace);

/// The folder that this executable is in.
Result<std::string> OwnFolder();

}  // namespace skerry::cli
