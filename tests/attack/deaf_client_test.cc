// A client with a good key that submits and never reads: what it is owed is bounded, and then dropped.
#include "tests/attack/attack.h"

namespace skerry::testing {
namespace {

class DeafClient : public Attack {
 protected:
  static constexpr const char* kSaysALot = "for(let i=0;i<40;i++)console.log('x'.repeat(50000));return 1";

  /// ZeroMQ's thread does not read on its behalf either, beyond a message or two.
  zmq::socket_t Deaf() {
    zmq::socket_t deaf(context_, zmq::socket_type::dealer);
    deaf.set(zmq::sockopt::linger, 0);
    deaf.set(zmq::sockopt::rcvhwm, 1);
    deaf.set(zmq::sockopt::sndtimeo, 10'000);
    curve::ConnectWith(deaf, pool().KeyOf(kEvil));
    deaf.connect(pool().clients_url());
    return deaf;
  }
  static void Put(zmq::socket_t& socket, const wire::Header& header,
                  const std::vector<std::string>& payloads = {}) {
    std::vector<std::string> frames = {wire::Encode(header)};
    frames.insert(frames.end(), payloads.begin(), payloads.end());
    for (std::size_t i = 0; i < frames.size(); ++i)
      EXPECT_TRUE(socket.send(zmq::buffer(frames[i]),
                              i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none));
  }
};

TEST_F(DeafClient, ThatNeverReadsIsOwedABoundedBacklogAndNoMore) {
  may_grow_ = 160 * kMiB;  // the window, the backlog, and what the allocator makes of them
  zmq::socket_t deaf = Deaf();
  wire::Hello hello;
  hello.session = SessionId("deaf");
  Put(deaf, hello);
  constexpr int kJobs = 200;  // 400 MB of events
  for (int i = 0; i < kJobs; ++i) Put(deaf, JobOf(kEvil, "d" + std::to_string(i)), {kSaysALot, "null"});
  const auto dropped = [](const MetricsPage& page) { return page.Value("skerry_backlog_dropped_total") > 0; };
  MetricsPage page = pool().Page();
  for (const TimePoint end = SteadyClock::now() + Millis(60'000); !dropped(page) && SteadyClock::now() < end;)
    page = pool().Await(dropped);
  EXPECT_TRUE(dropped(page));
  const RunReport report = pool().Run(kPolite, {Job("new", "return 1").Tenant(kPolite)});
  EXPECT_TRUE(IsOk(report.At("new"), 1));
}

}  // namespace
}  // namespace skerry::testing
