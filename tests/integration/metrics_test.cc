// What the broker's metrics page counts: jobs by how they ended, and limit trips once per job and limit.
#include <thread>

#include "tests/support/http.h"
#include "tests/support/pool.h"

namespace skerry::testing {
namespace {

class Metrics : public ::testing::Test {
 protected:
  const std::uint16_t port_ = FreePort();
  Pool pool_{{.broker_args = {"--metrics", "127.0.0.1:" + std::to_string(port_)}}};

  double Sum(const std::string& name, const std::string& label = {}) const {
    return MetricSum(HttpGet(port_, "/metrics"), name, label);
  }
};

TEST_F(Metrics, CountEachLimitTripOncePerJob) {
  pool_.Run({Job("time", "for(;;);").Limit("timeoutMs", 100), Job("cpu", "for(;;);").Limit("cpuMs", 50),
             Job("memory", "const a=[];for(;;)a.push(new Array(1e4).fill(1))").Limit("memoryMb", 16),
             Job("status", "for(let i=0;i<50;i++)reportStatus(i)").Limit("maxStatusEvents", 3),
             Job("console", "for(let i=0;i<50;i++)console.log(i)").Limit("maxConsoleEvents", 3),
             Job("result", "return 'x'.repeat(100)").Limit("maxResultBytes", 50),
             Job("code", "return 1 // long").Limit("maxCodeBytes", 8),
             Job("calls", "for(;;)await dataProxy.request('m')").Limit("maxDataRequests", 2),
             Job("fine", "return 1")},
            {.fixtures = Json{{"*", 1}}});
  for (const char* limit : {"timeoutMs", "cpuMs", "memoryMb", "maxStatusEvents", "maxConsoleEvents",
                            "maxResultBytes", "maxCodeBytes", "maxDataRequests"}) {
    EXPECT_EQ(Sum("skerry_limit_trips_total", "limit=\"" + std::string(limit) + "\""), 1) << limit;
  }
  EXPECT_EQ(Sum("skerry_limit_trips_total"), 8);
}

TEST_F(Metrics, CountJobsByHowTheyEnded) {
  pool_.Run({Job("a", "return 1"), Job("b", "return 2"), Job("c", "throw 1"), Job("d", "let ="),
             Job("e", "for(;;);").Limit("timeoutMs", 50)});
  EXPECT_EQ(Sum("skerry_jobs_submitted_total"), 5);
  EXPECT_EQ(Sum("skerry_jobs_finished_total", "code=\"ok\""), 2);
  EXPECT_EQ(Sum("skerry_jobs_finished_total", "code=\"RUNTIME\""), 1);
  EXPECT_EQ(Sum("skerry_jobs_finished_total", "code=\"COMPILE\""), 1);
  EXPECT_EQ(Sum("skerry_jobs_finished_total", "code=\"TIMEOUT\""), 1);
  EXPECT_EQ(Sum("skerry_jobs_finished_total"), 5);
  EXPECT_EQ(Sum("skerry_stray_finals_total"), 0);
}

TEST_F(Metrics, AnswerTheHealthChecks) {
  ASSERT_TRUE(IsOk(pool_.RunOne(Job("warm", "return 1")), Json(1))) << pool_.Logs();
  EXPECT_FALSE(HttpGet(port_, "/livez").empty());
  EXPECT_FALSE(HttpGet(port_, "/readyz").empty());
  EXPECT_EQ(Sum("skerry_workers"), 1) << pool_.Logs();
}

}  // namespace
}  // namespace skerry::testing
