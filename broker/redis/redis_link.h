// The broker's link to Redis: a thread that asks in batches, and tells what it heard.
//
//   RedisLink link(options, address, password);
//   link.Ask({{number, ask}});
//   // when link.news_fd() is readable:
//   for (RedisNews& news : link.TakeNews()) ...
//
// One batch is on its way at a time; what is asked meanwhile makes up the next one, so that a round trip
// bounds how long one job waits and not how many jobs pass. Once a second it says that this broker lives,
// asks or none: so it finds a loss without any job.
//
//                connected, greeted, heartbeat answered: news kUp
//   connecting ────────────────────────────────────────────────────> up
//      ^  (again after 20 ms, then twice that, up to 1 s)            │
//      └──────── no answer in time, a wrong one, or Reset: news kDown┘
//
// Verdicts come in the order of their asks. Asks of a link that goes down, or is, get no verdict: kDown is
// what says so.
//
// Threads: the caller's, and one of its own, which never runs a caller's code. Ownership: the destructor ends
// the thread, and waits for what that is doing: a timeout at the most, or the resolving of a host's name.
// Errors: as news; logged by whoever hears it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "broker/redis/rate_script.h"
#include "broker/redis/redis_connection.h"
#include "broker/redis/redis_options.h"
#include "common/fd.h"

namespace skerry::broker {

struct NumberedAsk {
  std::uint64_t number = 0;
  RateAsk ask;
};

struct RedisNews {
  enum class What : std::uint8_t { kUp, kDown, kAnswers };
  What what = What::kDown;
  std::string reason;         ///< of kDown
  std::uint64_t up = 0;       ///< of kUp: how often it has been up, for Reset
  std::uint64_t brokers = 1;  ///< of kUp and kAnswers
  std::vector<std::pair<std::uint64_t, RateVerdict>> verdicts;
};

class RedisLink {
 public:
  /// Of one round trip; the script's arguments then are some tens of KB.
  static constexpr std::size_t kMaxBatch = 512;
  /// What is returned beyond it is forgotten: a tenant then has had a little less than its rate.
  static constexpr std::size_t kMaxReturned = 4096;
  static constexpr Millis kHeartbeat{1'000};

  RedisLink(const RedisOptions& options, RedisAddress address, std::string password);
  ~RedisLink();
  RedisLink(const RedisLink&) = delete;
  RedisLink& operator=(const RedisLink&) = delete;

  void Ask(std::vector<NumberedAsk> asks);
  /// Counted, and not needed.
  void Return(RateAsk ask);
  /// The caller has waited for an answer too long: the link begins anew, unless it has since (`up` of the
  /// kUp that the caller goes by).
  void Reset(std::uint64_t up);

  int news_fd() const { return news_fd_.get(); }
  std::vector<RedisNews> TakeNews();

 private:
  using Lock = std::unique_lock<std::mutex>;

  void Run();
  Result<RedisConnection> Connect();
  /// Until it goes down; why it did.
  std::string Serve(RedisConnection& connection);
  /// Something to do, or nothing for a heartbeat. False: it is to end, or to begin anew.
  bool AwaitBatch(RateBatch& batch, std::vector<std::uint64_t>& numbers);
  void Tell(RedisNews news);
  bool stopping();

  const RedisOptions options_;
  const RedisAddress address_;
  const std::string password_;
  const std::string broker_;  // this one's name among the brokers
  const Fd news_fd_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<NumberedAsk> asks_;
  std::vector<RateAsk> returned_;
  std::vector<RedisNews> news_;
  std::uint64_t up_ = 0;
  bool is_up_ = false;
  bool reset_ = false;
  bool stopping_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace skerry::broker
