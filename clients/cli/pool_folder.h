// Where a pool of ours has its sockets: a folder that only this user may enter.
//
// It holds a lock for as long as its process lives. A process that is killed leaves its folder; whoever makes
// the next one beside it removes those whose lock is free.
//
// Threads: one. Ownership: the destructor removes the folder and what is in it. Errors: Make says which
// folder could not be made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/result.h"

namespace skerry::cli {

class PoolFolder {
 public:
  /// A new folder of mode 0700 under the first of the variables that names a usable folder, else under /tmp.
  static Result<PoolFolder> Make(const std::vector<const char*>& variables);

  PoolFolder() = default;
  ~PoolFolder();
  PoolFolder(PoolFolder&& other) noexcept;
  PoolFolder& operator=(PoolFolder&& other) noexcept;
  PoolFolder(const PoolFolder&) = delete;
  PoolFolder& operator=(const PoolFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string Endpoint(const std::string& name) const { return "ipc://" + path_ + "/" + name; }

 private:
  std::string path_;  // empty: none
  Fd lock_;
};

/// The ipc endpoints called `name` of this user's pools whose processes live, by path.
std::vector<std::string> RunningPools(const std::string& name);

/// 80 % of the machine for all workers together, MiB each: each one's own default would count it whole.
std::uint64_t SharedMemoryMb(std::uint64_t workers);

}  // namespace skerry::cli
