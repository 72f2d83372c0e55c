// Prometheus itself (Debian's package): its linter on the metrics page and the alerts, and a server that
// scrapes the broker and answers a query for every metric.
#include <fstream>
#include <thread>

#include "common/testing/free_port.h"
#include "tests/integration/metrics_fixture.h"
#include "tests/support/http.h"

namespace skerry::testing {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

struct Ended {
  std::optional<int> status;
  std::string output;
};

Ended Promtool(const std::vector<std::string>& args, const std::string& stdin_text = {}) {
  const TempDir dir;
  WriteFile(dir / "in", stdin_text);
  std::vector<std::string> argv = {"/usr/bin/promtool"};
  argv.insert(argv.end(), args.begin(), args.end());
  Child child(argv, {.stdin_path = dir / "in", .stdout_path = dir / "out", .stderr_path = dir / "out"});
  const auto status = child.Wait(seconds(30));
  return {status, ReadFile(dir / "out")};
}

/// Every metric of the golden file, with its type.
std::vector<std::pair<std::string, std::string>> GoldenMetrics() {
  std::ifstream golden(SourceRoot() / "broker/metrics/metrics_golden.txt");
  std::vector<std::pair<std::string, std::string>> metrics;
  std::string name, type, labels;
  while (golden >> name >> type >> labels) metrics.emplace_back(name, type);
  EXPECT_GT(metrics.size(), 40u);
  return metrics;
}

/// A server of its own, on a loopback port, with its data in a temporary folder.
class Prometheus {
 public:
  explicit Prometheus(std::uint16_t scraped) {
    WriteFile(dir_ / "prometheus.yml",
              "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
              "rule_files: [\"" +
                  (SourceRoot() / "ops/prometheus/alerts.yml").string() +
                  "\"]\n"
                  "scrape_configs:\n  - job_name: skerry\n    static_configs:\n"
                  "      - targets: [\"127.0.0.1:" +
                  std::to_string(scraped) + "\"]\n");
    server_ = std::make_unique<Child>(
        std::vector<std::string>{"/usr/bin/prometheus", "--config.file=" + (dir_ / "prometheus.yml").string(),
                                 "--storage.tsdb.path=" + (dir_ / "data").string(),
                                 "--web.listen-address=127.0.0.1:" + std::to_string(port_),
                                 "--log.level=warn"},
        ChildStreams{.stdout_path = dir_ / "log", .stderr_path = dir_ / "log"});
  }

  /// The result of an instant query; nothing while there is none.
  std::optional<Json> Query(const std::string& expression) const {
    const auto answer = ParseJson(HttpGet(port_, "/api/v1/query?query=" + expression));
    if (!answer || !answer->contains("data") || answer->at("data").at("result").empty()) return std::nullopt;
    return answer->at("data").at("result");
  }
  std::optional<Json> AwaitQuery(const std::string& expression) const {
    for (const auto end = steady_clock::now() + seconds(30); steady_clock::now() < end;) {
      if (auto result = Query(expression)) return result;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return std::nullopt;
  }
  std::uint16_t port() const { return port_; }
  std::string Log() const { return ReadFile(dir_ / "log"); }

 private:
  TempDir dir_;
  const std::uint16_t port_ = FreePort();
  std::unique_ptr<Child> server_;
};

TEST(PrometheusTools, FindNothingToLintInTheMetrics) {
  const WatchedPool watched;
  watched.AwaitWorker();
  const Ended ended = Promtool({"check", "metrics"}, HttpGet(watched.port, "/metrics"));
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_EQ(ended.output, "");
}

TEST(PrometheusTools, FindTheAlertsValid) {
  const Ended ended = Promtool({"check", "rules", (SourceRoot() / "ops/prometheus/alerts.yml").string()});
  EXPECT_EQ(ended.status, 0) << ended.output;
}

TEST(PrometheusTools, FindTheAlertsFireWhenTheyShould) {
  const Ended ended = Promtool({"test", "rules", (SourceRoot() / "ops/prometheus/alerts_test.yml").string()});
  EXPECT_EQ(ended.status, 0) << ended.output;
}

TEST(PrometheusTools, AlertsAskOnlyForMetricsThatThereAre) {
  const std::string alerts = ReadFile(SourceRoot() / "ops/prometheus/alerts.yml");
  const std::string golden = ReadFile(SourceRoot() / "broker/metrics/metrics_golden.txt");
  std::size_t asked = 0;
  for (std::size_t at = 0; (at = alerts.find("skerry_", at)) != std::string::npos; ++asked) {
    const std::size_t end = alerts.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", at);
    std::string name = alerts.substr(at, end - at);
    if (name.ends_with("_bucket")) name.resize(name.size() - 7);
    EXPECT_NE(("\n" + golden).find("\n" + name + " "), std::string::npos) << name;
    at = end;
  }
  EXPECT_GE(asked, 8u);
}

TEST(PrometheusServer, ScrapesTheBrokerAndAnswersForEveryMetric) {
  const WatchedPool watched;
  watched.AwaitWorker();
  const Prometheus server(watched.port);
  ASSERT_TRUE(watched.pool.RunOne(Job("a", "console.log(1);return 1")).ok());
  const auto up = server.AwaitQuery("up==1");
  ASSERT_TRUE(up) << server.Log();
  for (const auto& [name, type] : GoldenMetrics()) {
    const auto result = server.AwaitQuery(type == "histogram" ? name + "_count" : name);
    ASSERT_TRUE(result) << "no value for " << name << "\n" << server.Log();
    EXPECT_FALSE(result->at(0).at("value").at(1).get<std::string>().empty()) << name;
  }
  // A scrape after the job sees it: the value, not only the name.
  EXPECT_TRUE(server.AwaitQuery("skerry_jobs_finished_total%7Bcode=%22ok%22%7D==1")) << server.Log();
  EXPECT_TRUE(server.AwaitQuery("skerry_worker_info%7Bv8=~%2214.*%22%7D==1")) << server.Log();
  const auto rules = ParseJson(HttpGet(server.port(), "/api/v1/rules"));
  ASSERT_TRUE(rules);
  EXPECT_FALSE(rules->at("data").at("groups").empty());
}

}  // namespace
}  // namespace skerry::testing
