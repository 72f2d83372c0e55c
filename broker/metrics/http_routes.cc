#include "broker/metrics/http_routes.h"

namespace skerry::broker {
namespace {

constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

HttpAnswer Text(int status, std::string line) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = std::move(line) + "\n";
  return answer;
}

HttpAnswer Text(const Health::Report& report) {
  return Text(report.verdict == Health::Report::Verdict::kGood ? 200 : 503, report.text);
}

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Service Unavailable";
  }
}

}  // namespace

HttpAnswer Answer(std::string_view method, std::string_view path, const HttpPages& pages) {
  const bool known = path == "/metrics" || path == "/livez" || path == "/readyz";
  if (!known) return Text(404, "there is /metrics, /livez and /readyz");
  if (method != "GET" && method != "HEAD") return Text(405, "GET or HEAD only");
  if (path == "/livez") return Text(pages.live());
  if (path == "/readyz") return Text(pages.ready());
  HttpAnswer answer;
  answer.content_type = kMetricsType;
  answer.body = pages.metrics();
  return answer;
}

std::string Render(const HttpAnswer& answer, std::string_view method) {
  std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " " +
                     std::string(ReasonOf(answer.status)) + "\r\nContent-Type: " + answer.content_type +
                     "\r\nContent-Length: " + std::to_string(answer.body.size()) +
                     "\r\nCache-Control: no-store\r\nConnection: close\r\n";
  if (answer.status == 405) text += "Allow: GET, HEAD\r\n";
  text += "\r\n";
  if (method != "HEAD") text += answer.body;
  return text;
}

}  // namespace skerry::broker
