// A broker and workers of our own, for a run without --broker: started in a folder that only this user may
// enter, taken down with it.
//
//   auto pool = PrivatePool::Start(options);
//   Client::Connect({.broker = (*pool)->endpoint()});
//
// Threads: the main thread (see ChildProcess). Ownership: owns the processes and the folder; the destructor
// ends and removes them. Errors: Start says what could not be started; Failure says who died meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/cli/child_process.h"
#include "clients/cli/pool_folder.h"
#include "common/limits.h"
#include "common/result.h"

namespace skerry::cli {

/// The worker's own default.
inline constexpr const char* kDefaultSandbox = "strict";

struct PoolOptions {
  std::uint64_t workers = 1;
  std::optional<std::uint64_t> isolates;  ///< per worker; none: the worker's default
  std::optional<std::uint64_t> spares;
  std::optional<std::uint64_t>
      memory_mb;  ///< per worker; none: 80 % of this machine's, shared by the workers
  std::string jit = "maglev";
  std::string sandbox = kDefaultSandbox;  ///< strict, best-effort or off
  std::string log_level = "warn";
  std::vector<std::string> libraries;  ///< that jobs may name, as NAME=PATH
  std::string worker_program;          ///< empty: skerry-worker beside this executable
  Ceilings ceilings;
};

class PrivatePool {
 public:
  static Result<std::unique_ptr<PrivatePool>> Start(const PoolOptions& options);
  ~PrivatePool();
  PrivatePool(const PrivatePool&) = delete;
  PrivatePool& operator=(const PrivatePool&) = delete;

  const std::string& endpoint() const { return client_endpoint_; }
  /// A process that should run and does not.
  std::optional<Error> Failure();

 private:
  PrivatePool() = default;
  Status StartBroker(const std::string& binaries, const PoolOptions& options);
  Status StartWorker(const std::string& binaries, const PoolOptions& options);
  Status AwaitBroker();

  PoolFolder folder_;
  std::string client_endpoint_;
  std::string worker_endpoint_;
  std::vector<ChildProcess> broker_;  // one, once started
  std::vector<ChildProcess> workers_;
};

}  // namespace skerry::cli
