#include "broker/metrics/http_endpoint.h"

#include <civetweb.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

#include "common/endpoint.h"

namespace skerry::broker {

namespace {

constexpr Millis kKnockEvery{10};

}  // namespace

struct HttpEndpoint::Server {
  HttpPages pages;
  mg_context* context = nullptr;
  const char* host = "127.0.0.1";
  int port = 0;

  ~Server() {
    if (context == nullptr) return;
    std::atomic<bool> stopped{false};
    std::thread stopper([&] {
      mg_stop(context);
      stopped = true;
    });
    // civetweb looks whether it is to stop when a client comes, else only every two seconds.
    while (!stopped) {
      Knock();
      std::this_thread::sleep_for(kKnockEvery);
    }
    stopper.join();
  }

  void Knock() const {
    char error[64];
    if (mg_connection* connection = mg_connect_client(host, port, 0, error, sizeof(error)))
      mg_close_connection(connection);
  }
};

namespace {

int Handle(mg_connection* connection, void* pages) {
  const mg_request_info* info = mg_get_request_info(connection);
  const std::string_view method = info->request_method == nullptr ? "" : info->request_method;
  const std::string_view path = info->local_uri == nullptr ? "" : info->local_uri;
  HttpAnswer answer;
  try {
    answer = Answer(method, path, *static_cast<const HttpPages*>(pages));
  } catch (const std::exception& error) {  // out of memory; it must not end the broker
    answer.status = 503;
    answer.body = std::string(error.what()) + "\n";
  }
  const std::string text = Render(answer, method);
  mg_write(connection, text.data(), text.size());
  return answer.status;
}

// civetweb would print to stderr, past our log; what it has to say is about one client's bad request.
int KeepQuiet(const mg_connection*, const char*) {
  return 1;
}

}  // namespace

HttpEndpoint::HttpEndpoint(std::unique_ptr<Server> server) : server_(std::move(server)) {}
HttpEndpoint::~HttpEndpoint() = default;

Result<std::unique_ptr<HttpEndpoint>> HttpEndpoint::Serve(const std::string& address, HttpPages pages) {
  if (ReachOf("tcp://" + address) != Reach::kLoopback) {
    return Fail(ErrorKind::kInvalid, "--metrics " + address + ": must be HOST:PORT with a loopback host");
  }
  std::string listen = address;
  constexpr std::string_view kLocalhost = "localhost:";
  if (listen.starts_with(kLocalhost)) listen.replace(0, kLocalhost.size(), "127.0.0.1:");
  const std::string threads = std::to_string(kThreads);
  const std::string patience = std::to_string(kPatience.count());
  const std::string max_request = std::to_string(kMaxRequest.count());
  const char* options[] = {"listening_ports",
                           listen.c_str(),
                           "num_threads",
                           threads.c_str(),
                           "request_timeout_ms",
                           patience.c_str(),
                           "max_request_size",
                           max_request.c_str(),
                           "enable_keep_alive",
                           "no",
                           nullptr};
  auto server = std::make_unique<Server>();
  server->pages = std::move(pages);
  mg_callbacks callbacks{};
  callbacks.log_message = &KeepQuiet;
  mg_init_library(0);
  server->context = mg_start(&callbacks, nullptr, options);
  if (server->context == nullptr) {
    return Fail(ErrorKind::kUnavailable,
                "cannot serve metrics on " + address + ": is the port taken by another process?");
  }
  mg_server_port bound{};
  if (mg_get_server_ports(server->context, 1, &bound) == 1) {
    constexpr int kIpv6 = 3;
    if (bound.protocol == kIpv6) server->host = "::1";
    server->port = bound.port;
  }
  mg_set_request_handler(server->context, "**", &Handle, &server->pages);
  return std::unique_ptr<HttpEndpoint>(new HttpEndpoint(std::move(server)));
}

}  // namespace skerry::broker
