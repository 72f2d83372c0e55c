// What each HTTP request gets: pages by path, GET and HEAD only.
//
// Threads: pure, but for what the pages do. Errors: 404 for another path, 405 for another method.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "broker/metrics/health.h"

namespace skerry::broker {

/// What the pages show; called from the HTTP server's threads.
struct HttpPages {
  std::function<std::string()> metrics;
  std::function<Health::Report()> live;
  std::function<Health::Report()> ready;
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

HttpAnswer Answer(std::string_view method, std::string_view path, const HttpPages& pages);

/// The whole response; a HEAD's has the headers of a GET's and no body.
std::string Render(const HttpAnswer& answer, std::string_view method);

}  // namespace skerry::broker
