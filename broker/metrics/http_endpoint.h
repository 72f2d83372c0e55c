// The broker's HTTP server (civetweb): a few threads that answer /metrics, /livez and /readyz and nothing
// else.
//
// It is apart from the loop: a slow or hostile client holds one of its threads for kPatience at most, and no
// job waits for it. Loopback only, off unless asked for.
//
// Threads: its own; the pages are called from them. Ownership: the destructor ends them.
// Errors: Serve refuses addresses that other machines reach, and says when the port is taken.
#pragma once

#include <memory>
#include <string>

#include "broker/metrics/http_routes.h"
#include "common/result.h"
#include "common/units.h"

namespace skerry::broker {

class HttpEndpoint {
 public:
  static constexpr int kThreads = 8;
  /// For a request to come, and for an answer to be taken.
  static constexpr Millis kPatience{2'000};
  static constexpr Bytes kMaxRequest = Bytes::KiB(8);

  /// `address`: HOST:PORT with a loopback host.
  static Result<std::unique_ptr<HttpEndpoint>> Serve(const std::string& address, HttpPages pages);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

 private:
  struct Server;
  explicit HttpEndpoint(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

}  // namespace skerry::broker
