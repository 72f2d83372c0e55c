#include "tests/redis/flood.h"

#include <thread>
#include <utility>

namespace skerry::testing {
namespace {

constexpr Millis kPatience{20'000};
constexpr double kOfferedPerSecond = 300;  // to each

}  // namespace

SharingBroker::SharingBroker(const std::string& redis, const std::string& tenants,
                             std::vector<std::string> args, int workers) {
  WriteFile(dir_ / "tenants.toml", tenants);
  args.insert(args.end(),
              {"--redis", redis, "--tenants", dir_ / "tenants.toml", "--client-credit", "1000000"});
  watched_ = std::make_unique<WatchedPool>(
      PoolOptions{.isolates = 2, .workers = workers, .broker_args = std::move(args)});
}

bool SharingBroker::AwaitUp(double brokers) const {
  const auto up = [&](const MetricsPage& page) {
    return page.Value("skerry_redis_up") == 1 && page.Value("skerry_rate_brokers") == brokers;
  };
  return up(watched_->Await(up));
}

bool SharingBroker::AwaitDown() const {
  const auto down = [](const MetricsPage& page) { return page.Value("skerry_redis_up") == 0; };
  return down(watched_->Await(down));
}

Flood::Flood(SharingBroker& broker, std::string name)
    : client_(broker.watched().pool.client_url(), name), name_(std::move(name)) {
  EXPECT_TRUE(client_.Greet());
}

void Flood::Submit() {
  EXPECT_TRUE(client_.Submit(name_ + std::to_string(++submitted_), "return 1"));
}

void Flood::Take(const wire::Header& header) {
  if (const auto* ping = std::get_if<wire::Ping>(&header)) {
    client_.Send(wire::Pong{ping->number});
  } else if (const auto* accepted = std::get_if<wire::Accepted>(&header)) {
    doubled_ += !accepted_.insert(accepted->id.str()).second || refused_.contains(accepted->id.str());
  } else if (const auto* final = std::get_if<wire::Final>(&header)) {
    EXPECT_EQ(final->code, Code::kRateLimited);
    EXPECT_GT(final->retry_after_ms, 0u);
    doubled_ += !refused_.insert(final->id.str()).second || accepted_.contains(final->id.str());
  }
}

void Flood::Read() {
  while (const auto header = client_.Read(Millis(0))) Take(*header);
}

bool Flood::AwaitAnswers() {
  for (const TimePoint end = SteadyClock::now() + kPatience;
       accepted_.size() + refused_.size() < submitted_;) {
    if (SteadyClock::now() > end) return false;
    if (const auto header = client_.Read(Millis(100))) Take(*header);
  }
  return true;
}

Measured Offer(const std::vector<Flood*>& floods, Millis time) {
  const auto accepted = [&] {
    std::uint64_t sum = 0;
    for (Flood* flood : floods) sum += flood->accepted();
    return static_cast<double>(sum);
  };
  const auto since = [](TimePoint from) { return MillisBetween(from, SteadyClock::now()) / 1'000; };
  Measured measured;
  const double before = accepted();
  const TimePoint begin = SteadyClock::now();
  for (std::uint64_t each = 0; SteadyClock::now() < begin + time;) {
    // By the clock, not by turns: what a busy machine keeps us from submitting is made up for.
    const auto due = static_cast<std::uint64_t>(since(begin) * kOfferedPerSecond);
    for (; each < due; ++each) {
      for (Flood* flood : floods) flood->Submit();
      measured.shortest = since(begin);
    }
    for (Flood* flood : floods) flood->Read();
    std::this_thread::sleep_for(Millis(1));
  }
  for (Flood* flood : floods) EXPECT_TRUE(flood->AwaitAnswers()) << "a job without an answer";
  measured.longest = since(begin);
  measured.accepted = accepted() - before;
  return measured;
}

}  // namespace skerry::testing
