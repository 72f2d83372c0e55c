#include "tests/support/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdlib>
#include <sstream>

#include "common/fd.h"

namespace skerry::testing {
namespace {

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

}  // namespace

std::string HttpExchange(std::uint16_t port, const std::string& request) {
  const Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{5, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  const sockaddr_in address = Loopback(port);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return "";
  if (send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return "";
  std::string answer;
  char buffer[4096];
  for (ssize_t got; (got = recv(fd.get(), buffer, sizeof(buffer), 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  return answer;
}

std::string HttpGet(std::uint16_t port, const std::string& path) {
  const std::string answer = HttpExchange(port, "GET " + path + " HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
  const auto body = answer.find("\r\n\r\n");
  return body == std::string::npos ? "" : answer.substr(body + 4);
}

int HttpStatus(std::uint16_t port, const std::string& path) {
  const std::string answer = HttpExchange(port, "GET " + path + " HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
  const auto space = answer.find(' ');
  return space == std::string::npos ? 0 : std::atoi(answer.c_str() + space);
}

double MetricSum(const std::string& page, const std::string& name, const std::string& label) {
  double sum = 0;
  bool found = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const auto end = line.find_first_of("{ ");
    if (end == std::string::npos || line.substr(0, end) != name) continue;
    if (!label.empty() && line.find(label) == std::string::npos) continue;
    sum += std::strtod(line.c_str() + line.rfind(' '), nullptr);
    found = true;
  }
  return found ? sum : -1;
}

}  // namespace skerry::testing
