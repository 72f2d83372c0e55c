#include "broker/metrics/http_routes.h"

#include <gtest/gtest.h>

namespace skerry::broker {
namespace {

using Verdict = Health::Report::Verdict;

const HttpPages kPages = {[] { return std::string("a_metric 1\n"); },
                          [] {
                            return Health::Report{Verdict::kGood, "ok"};
                          },
                          [] {
                            return Health::Report{Verdict::kBad, "no worker is connected"};
                          }};

TEST(HttpRoutes, GiveEachPageToGetAndHead) {
  for (const char* method : {"GET", "HEAD"}) {
    EXPECT_EQ(Answer(method, "/metrics", kPages).body, "a_metric 1\n");
    EXPECT_TRUE(Answer(method, "/metrics", kPages).content_type.starts_with("text/plain; version=0.0.4"));
    EXPECT_EQ(Answer(method, "/livez", kPages).status, 200);
    EXPECT_EQ(Answer(method, "/readyz", kPages).status, 503);
    EXPECT_EQ(Answer(method, "/readyz", kPages).body, "no worker is connected\n");
  }
}

TEST(HttpRoutes, KnowNoOtherPathAndNoOtherMethod) {
  for (const char* path : {"/", "", "/metrics/", "/metrics/x", "/METRICS", "*", "/livez%00", "/../livez"})
    EXPECT_EQ(Answer("GET", path, kPages).status, 404) << path;
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", ""})
    EXPECT_EQ(Answer(method, "/metrics", kPages).status, 405) << method;
}

TEST(HttpRoutes, AHeadHasTheHeadersOfAGetAndNoBody) {
  const HttpAnswer answer = Answer("GET", "/livez", kPages);
  const std::string get = Render(answer, "GET");
  EXPECT_EQ(get, Render(answer, "HEAD") + "ok\n");
  EXPECT_NE(get.find("\r\nContent-Length: 3\r\n"), std::string::npos) << get;
}

TEST(HttpRoutes, AWrongMethodIsToldTheRightOnes) {
  EXPECT_NE(Render(Answer("POST", "/livez", kPages), "POST").find("\r\nAllow: GET, HEAD\r\n"),
            std::string::npos);
}

}  // namespace
}  // namespace skerry::broker
