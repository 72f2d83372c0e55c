// The broker's HTTP port beside running jobs: health as it changes, and clients that mean harm.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>
#include <vector>

#include "common/fd.h"
#include "tests/integration/metrics_fixture.h"
#include "tests/support/http.h"
#include "tests/support/pool_watch.h"

namespace skerry::testing {
namespace {

Fd ConnectTo(std::uint16_t port) {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  (void)connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  return fd;
}

/// The answer of /readyz once it has that status; the last one.
std::string AwaitReady(std::uint16_t port, int status) {
  AwaitMetrics(port, [&](const MetricsPage&) { return HttpStatus(port, "/readyz") == status; });
  EXPECT_EQ(HttpStatus(port, "/readyz"), status);
  return HttpGet(port, "/readyz");
}

TEST(Readyz, FollowsTheWorkersComingAndGoing) {
  WatchedPool watched({.isolates = 1, .spares = 0, .workers = 0});
  EXPECT_EQ(AwaitReady(watched.port, 503), "no worker is connected\n");
  EXPECT_EQ(HttpStatus(watched.port, "/livez"), 200);
  watched.pool.AddWorker();
  EXPECT_EQ(AwaitReady(watched.port, 200), "ok\n");
  const auto idle = IdleChildren(watched.pool);
  Background run(watched.pool, {Job("holds", "await dataProxy.request('w')")},
                 {.fixtures = Json{{"w", {{"$value", 1}, {"$delayMs", 1'500}}}}});
  AwaitIsolates(watched.pool.worker().pid(), idle, 1);
  EXPECT_EQ(HttpStatus(watched.port, "/readyz"), 200) << "a full pool still queues";
  watched.pool.worker().Signal(SIGTERM);
  EXPECT_TRUE(AwaitReady(watched.port, 503).starts_with("no worker takes jobs"));
  EXPECT_TRUE(IsOk(run.Join().At("holds")));
  EXPECT_EQ(watched.pool.worker().Wait(std::chrono::seconds(5)), 0);
  EXPECT_EQ(HttpGet(watched.port, "/readyz"), "no worker is connected\n");
  EXPECT_EQ(HttpStatus(watched.port, "/livez"), 200);
}

TEST(Readyz, TurnsOffInAStormOfCellDeathsAndOnAgainWhenItIsOver) {
  WatchedPool watched({.isolates = 1, .spares = 0});
  IdleChildren(watched.pool);
  EXPECT_EQ(AwaitReady(watched.port, 200), "ok\n");
  const pid_t worker = watched.pool.worker().pid();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (HttpStatus(watched.port, "/readyz") == 200 && std::chrono::steady_clock::now() < end) {
    for (const pid_t pid : CellsOf(worker)) kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(HttpStatus(watched.port, "/readyz"), 503);
  EXPECT_TRUE(HttpGet(watched.port, "/readyz").starts_with("no worker takes jobs"));
  EXPECT_EQ(HttpStatus(watched.port, "/livez"), 200);
  EXPECT_TRUE(IsOk(watched.pool.RunOne(Job("waits", "return 1")), 1)) << "queued until there is a cell";
  EXPECT_EQ(AwaitReady(watched.port, 200), "ok\n");
  // Killed while it forked, or while it started.
  const auto failures = [](const MetricsPage& now) {
    return now.Value("skerry_cell_restarts_total{reason=\"died\"}") +
           now.Value("skerry_cell_restarts_total{reason=\"start_failed\"}");
  };
  const MetricsPage page = watched.Await([&](const MetricsPage& now) { return failures(now) >= 3; });
  EXPECT_GE(failures(page), 3);
  EXPECT_TRUE(watched.pool.worker().IsRunning());
}

TEST(MetricsHttp, AnswersGetAndHeadOnItsPathsOnly) {
  const WatchedPool watched;
  EXPECT_EQ(HttpStatus(watched.port, "/metrics"), 200);
  EXPECT_EQ(HttpStatus(watched.port, "/"), 404);
  EXPECT_EQ(HttpStatus(watched.port, "/metrics/../../etc/passwd"), 404);
  const std::string head = HttpExchange(watched.port, "HEAD /metrics HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n")) << head;
  EXPECT_TRUE(HttpExchange(watched.port, "POST /metrics HTTP/1.0\r\nContent-Length: 0\r\n\r\n")
                  .starts_with("HTTP/1.1 405 "));
}

TEST(MetricsHttp, HostileClientsOfItDisturbNoJob) {
  const WatchedPool watched;
  watched.AwaitWorker();
  std::vector<Job> jobs;
  for (int i = 0; i < 100; ++i) jobs.push_back(Job("j" + std::to_string(i), "return 1"));
  const auto alone = watched.pool.Run(jobs);
  std::vector<Fd> hostile;
  const std::string header = "GET /metrics HTTP/1.1\r\nX: " + std::string(100'000, 'x');
  for (int i = 0; i < 200; ++i) {
    hostile.push_back(ConnectTo(watched.port));
    const std::string words = i % 3 == 0 ? "GET /met" : i % 3 == 1 ? header : "GET /metrics HTTP/1.1\r\n\r\n";
    (void)send(hostile.back().get(), words.data(), words.size(), MSG_NOSIGNAL);
  }
  const auto beside = watched.pool.Run(jobs);
  for (const Job& job : jobs) EXPECT_TRUE(IsOk(beside.At(job.id()), 1));
  // Loose: a loop that waited for one of them would take seconds.
  EXPECT_LT(beside.wall, alone.wall + std::chrono::milliseconds(1'000)) << alone.wall.count();
  hostile.clear();
  const MetricsPage page =
      watched.Await([](const MetricsPage& now) { return now.Value("skerry_jobs_accepted_total") == 200; });
  EXPECT_EQ(page.Value("skerry_jobs_accepted_total"), 200);
}

}  // namespace
}  // namespace skerry::testing
