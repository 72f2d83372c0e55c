// A broker and, if wanted, workers of our own for one bench, with flags as the bench asks and pids that can
// be looked at.
//
// Threads: the main thread (see ChildProcess). Ownership: the destructor ends the processes and removes their
// folder. Errors: Start says what could not be started.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/cli/child_process.h"
#include "clients/cli/pool_folder.h"
#include "common/result.h"

namespace skerry::bench {

struct PoolFlags {
  std::vector<std::string> broker;
  std::optional<std::vector<std::string>> worker = std::vector<std::string>();  ///< nullopt: no worker
};

class Pool {
 public:
  /// `binaries`: where skerry-broker and skerry-worker are.
  static Result<std::unique_ptr<Pool>> Start(const std::string& binaries, const PoolFlags& flags = {});
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Another one.
  Status AddWorker(const std::string& binaries, const std::vector<std::string>& flags);

  std::string clients() const { return folder_.Endpoint("clients"); }
  std::string workers() const { return folder_.Endpoint("workers"); }
  pid_t broker_pid() const { return broker_->pid(); }
  pid_t worker_pid(std::size_t index = 0) const { return workers_.at(index).pid(); }

 private:
  Pool() = default;

  cli::PoolFolder folder_;
  std::optional<cli::ChildProcess> broker_;
  std::vector<cli::ChildProcess> workers_;
};

/// Until `child` has bound its ipc:// endpoint.
Status AwaitBound(cli::ChildProcess& child, const std::string& endpoint);

}  // namespace skerry::bench
