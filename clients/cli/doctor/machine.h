// The machine as the doctor sees it: files of the kernel, trials of its calls, programs that are run. Probes
// take it as an argument, so that tests show them machines that are not at hand.
//
// Threads: one. Errors: what is not there reads as nothing; no call waits longer than its time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "clients/cli/doctor/redis_ping.h"
#include "common/keys/link_keys.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::cli::doctor {

/// What a program did.
struct Ran {
  std::optional<int> status;  ///< its exit status; none: a signal, or it had to be killed
  bool timed_out = false;
  std::string out;
  std::string err;
  Millis took{0};

  bool ok() const { return status == 0; }
};

/// Calls of the kernel that the worker and the cell need.
enum class Facility : std::uint8_t {
  kNamespaces,     ///< unshare of user and PID namespaces, and a process in them
  kSeccompFilter,  ///< a filter on oneself after no_new_privs
  kLandlock,       ///< Answer::value is the ABI
  kPidfdOpen,
  kPidfdClone,  ///< clone with CLONE_PIDFD
  kClone3,
  kCloseRange,
};

struct Answer {
  int error = 0;  ///< an errno; 0: it works
  long value = 0;
};

enum class Resource : std::uint8_t { kDescriptors, kProcesses, kCoreBytes };
struct ResourceLimit {
  static constexpr std::uint64_t kUnlimited = UINT64_MAX;
  std::uint64_t soft = kUnlimited;
  std::uint64_t hard = kUnlimited;
};

class Machine {
 public:
  virtual ~Machine() = default;

  /// At most 1 MiB of it.
  virtual std::optional<std::string> ReadFile(const std::string& path) = 0;
  virtual std::vector<std::string> ListFolder(const std::string& path) = 0;
  virtual std::optional<std::string> ReadLink(const std::string& path) = 0;
  virtual bool CanWrite(const std::string& path) = 0;
  virtual bool CanExecute(const std::string& path) = 0;
  /// Free for this user; nothing: no such file system.
  virtual std::optional<Bytes> FreeSpace(const std::string& path) = 0;
  virtual std::optional<std::string> Variable(const std::string& name) = 0;
  virtual std::string Architecture() = 0;
  virtual std::string KernelRelease() = 0;
  virtual unsigned Cores() = 0;
  virtual unsigned User() = 0;
  /// Seconds since 1970.
  virtual std::int64_t Time() = 0;
  virtual ResourceLimit LimitOf(Resource resource) = 0;
  virtual Answer Try(Facility facility) = 0;
  /// Killed with all that it started when it takes longer.
  virtual Ran Run(const std::vector<std::string>& argv, const std::string& input, Millis patience) = 0;
  /// Numeric addresses of a host's name.
  virtual Result<std::vector<std::string>> Resolve(const std::string& host, Millis patience) = 0;
  /// What keeps the broker there from letting that key in, or nothing: client::TryHandshake.
  virtual Status TryHandshake(const keys::LinkSettings& at, keys::Role role, Millis patience) = 0;
  virtual Status PingRedis(const std::string& endpoint, const RedisLogin& login, Millis patience) = 0;
  /// Of each endpoint, the errno of connecting to it; 0: somebody listens.
  virtual std::vector<int> Connect(const std::vector<std::string>& endpoints, Millis patience) = 0;
};

/// A file's text without white space around it; nothing: no such file.
std::optional<std::string> Word(Machine& machine, const std::string& path);
/// A file's whole number; "max" and what is no number are nothing.
std::optional<std::uint64_t> NumberIn(Machine& machine, const std::string& path);
/// This process's cgroup (version 2) under /sys/fs/cgroup; empty: version 1 or none.
std::string OwnGroup(Machine& machine);
/// The smallest value of a file of this process's cgroup and of those around it.
std::optional<std::uint64_t> SmallestInGroups(Machine& machine, const std::string& file);

}  // namespace skerry::cli::doctor
