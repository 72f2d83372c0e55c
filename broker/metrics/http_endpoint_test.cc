// The HTTP server over real sockets: slow, greedy and hostile clients.
#include "broker/metrics/http_endpoint.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <vector>

#include "common/fd.h"
#include "common/testing/free_port.h"

namespace skerry::broker {
namespace {

using skerry::testing::FreePort;

HttpPages Pages() {
  return {[] { return std::string(2'000'000, 'm'); },
          [] {
            return Health::Report{Health::Report::Verdict::kGood, "ok"};
          },
          [] {
            return Health::Report{Health::Report::Verdict::kBad, "no worker is connected"};
          }};
}

class HttpEndpointTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto served = HttpEndpoint::Serve("127.0.0.1:" + std::to_string(port_), Pages());
    ASSERT_TRUE(served) << served.error().message;
    http_ = std::move(*served);
  }

  Fd Connect() const {
    Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval patience{10, 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }
  static std::string Rest(const Fd& fd) {
    std::string answer;
    char buffer[65536];
    for (ssize_t got; (got = recv(fd.get(), buffer, sizeof(buffer), 0)) > 0;)
      answer.append(buffer, static_cast<std::size_t>(got));
    return answer;
  }
  std::string Ask(const std::string& request) const {
    const Fd fd = Connect();
    send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    return Rest(fd);
  }
  std::string Get(const std::string& path) const {
    return Ask("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
  }

  const std::uint16_t port_ = FreePort();
  std::unique_ptr<HttpEndpoint> http_;
};

TEST_F(HttpEndpointTest, AnswersItsPagesAndNothingElse) {
  EXPECT_TRUE(Get("/livez").starts_with("HTTP/1.1 200 ")) << Get("/livez");
  EXPECT_TRUE(Get("/readyz").starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(Get("/readyz").ends_with("\r\n\r\nno worker is connected\n"));
  EXPECT_TRUE(Get("/livez?verbose").starts_with("HTTP/1.1 200 "));
  EXPECT_GT(Get("/metrics").size(), 2'000'000u);
  for (const char* path : {"/", "/etc/passwd", "/../../etc/passwd", "/metrics/"})
    EXPECT_TRUE(Get(path).starts_with("HTTP/1.1 404 ")) << path << Get(path);
}

TEST_F(HttpEndpointTest, AHeadHasNoBodyAndOtherMethodsAreRefused) {
  const std::string head = Ask("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 ")) << head;
  EXPECT_NE(head.find("Content-Length: 2000000"), std::string::npos) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    const std::string answer =
        Ask(std::string(method) + " /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << method << ": " << answer;
  }
}

TEST_F(HttpEndpointTest, ARequestOfTenMegabytesIsCutOff) {
  const Fd fd = Connect();
  const std::string start = "GET /livez HTTP/1.1\r\nHost: x\r\nX: ";
  send(fd.get(), start.data(), start.size(), MSG_NOSIGNAL);
  const std::string piece(65536, 'a');
  std::size_t taken = 0;
  for (int i = 0; i < 160; ++i) {
    const ssize_t sent = send(fd.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;
    taken += static_cast<std::size_t>(sent);
  }
  EXPECT_EQ(Rest(fd).find("HTTP/1.1 200"), std::string::npos);
  EXPECT_TRUE(Get("/livez").starts_with("HTTP/1.1 200 "));
  EXPECT_LT(taken, 160 * piece.size()) << "it read on to the end";
}

TEST_F(HttpEndpointTest, ClientsThatSendNothingOrReadNothingAreLetGoAndOthersAreServed) {
  std::vector<Fd> idle;
  for (int i = 0; i < 2 * HttpEndpoint::kThreads; ++i) {
    idle.push_back(Connect());
    const std::string half = i % 2 == 0 ? "GET /livez HT" : "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    send(idle.back().get(), half.data(), half.size(), MSG_NOSIGNAL);
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(Get("/livez").starts_with("HTTP/1.1 200 "));
  // Two rounds of clients before it, each held for its patience at most.
  EXPECT_LT(std::chrono::steady_clock::now() - start, 3 * HttpEndpoint::kPatience);
}

TEST_F(HttpEndpointTest, BytesThatAreNoRequestDoNoHarm) {
  for (const std::string& junk :
       {std::string("\0\0\0\0", 4), std::string(4096, '\xff'), std::string("\r\n\r\n"),
        std::string("GET\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n")}) {
    (void)Ask(junk);
  }
  EXPECT_TRUE(Get("/livez").starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpEndpointTest, SaysThatThePortIsTaken) {
  const auto second = HttpEndpoint::Serve("127.0.0.1:" + std::to_string(port_), Pages());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(std::to_string(port_)), std::string::npos);
}

TEST(HttpAddress, IsOnLoopbackOnly) {
  EXPECT_FALSE(HttpEndpoint::Serve("0.0.0.0:17703", Pages()));
  EXPECT_FALSE(HttpEndpoint::Serve("17703", Pages()));
  EXPECT_TRUE(HttpEndpoint::Serve("localhost:" + std::to_string(FreePort()), Pages()));
}

}  // namespace
}  // namespace skerry::broker
