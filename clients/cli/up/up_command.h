// `skerry up`: a broker and workers in the foreground, until a signal.
//
// The children read the same variables and the same skerry.toml ([broker], [worker]); what the command line
// says goes before. Sockets are in a folder of this run unless endpoints are given.
//
// Threads: the main thread (see ChildProcess); a client's own while it waits for the first job to be served.
// Ownership: every process, socket and folder is gone when it returns; SIGKILL of this process takes its
// children with it. Errors: as exit statuses, with one line on stderr.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace skerry::cli {

struct UpOptions {
  std::vector<std::string> client_endpoints;  ///< none: in a folder of this run
  std::vector<std::string> worker_endpoints;  ///< the same
  std::string admin_endpoint;                 ///< the same
  /// Whether the broker has keys. Its own trial job and workers have none, and come by ipc:// then.
  enum class Keys : std::uint8_t { kNone, kGiven } keys = Keys::kNone;
  /// Whether something was refused already: nothing is started then, but more faults may be found.
  enum class Settings : std::uint8_t { kSound, kFaulty } settings = Settings::kSound;
  std::uint64_t workers = 1;
  /// More arguments, as the programs take them.
  std::vector<std::string> broker_arguments;
  std::vector<std::string> worker_arguments;
  std::string worker_program;  ///< empty: skerry-worker beside this executable
};

int UpCommand(const UpOptions& options);

}  // namespace skerry::cli
