#include "broker/redis/redis_link.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>

#include "common/back_off.h"
#include "common/hash.h"

namespace skerry::broker {
namespace {

constexpr Millis kFirstDelay{20};
constexpr Millis kLongestDelay{1'000};
// Nobody waits for a connection being made: a slow server may take its time.
constexpr Millis kConnectTime{1'000};
constexpr std::size_t kNameBytes = 8;

void BlockAllSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

/// Takes up to `most` off the front.
template <class Item>
std::vector<Item> TakeSome(std::vector<Item>& from, std::size_t most) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(most, from.size()));
  std::vector<Item> taken(std::make_move_iterator(from.begin()), std::make_move_iterator(end));
  from.erase(from.begin(), end);
  return taken;
}

}  // namespace

RedisLink::RedisLink(const RedisOptions& options, RedisAddress address, std::string password)
    : options_(options),
      address_(std::move(address)),
      password_(std::move(password)),
      broker_(RandomHex(kNameBytes)),
      news_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] {
        BlockAllSignals();
        Run();
      }) {}

RedisLink::~RedisLink() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RedisLink::Ask(std::vector<NumberedAsk> asks) {
  {
    const Lock lock(mutex_);
    if (!is_up_) return;
    std::move(asks.begin(), asks.end(), std::back_inserter(asks_));
  }
  changed_.notify_all();
}

void RedisLink::Return(RateAsk ask) {
  const Lock lock(mutex_);
  if (is_up_ && returned_.size() < kMaxReturned) returned_.push_back(std::move(ask));
}

void RedisLink::Reset(std::uint64_t up) {
  {
    const Lock lock(mutex_);
    if (!is_up_ || up != up_) return;
    reset_ = true;
  }
  changed_.notify_all();
}

std::vector<RedisNews> RedisLink::TakeNews() {
  const Lock lock(mutex_);
  eventfd_t count = 0;
  (void)eventfd_read(news_fd_.get(), &count);
  return std::exchange(news_, {});
}

void RedisLink::Tell(RedisNews news) {
  const Lock lock(mutex_);
  if (news.what == RedisNews::What::kUp) {
    is_up_ = true;
    reset_ = false;
    news.up = ++up_;
  } else if (news.what == RedisNews::What::kDown) {
    is_up_ = false;
    asks_.clear();
    returned_.clear();
  }
  news_.push_back(std::move(news));
  (void)eventfd_write(news_fd_.get(), 1);
}

bool RedisLink::stopping() {
  const Lock lock(mutex_);
  return stopping_;
}

void RedisLink::Run() {
  BackOff back_off(kFirstDelay, kLongestDelay);
  bool told = false;
  while (!stopping()) {
    auto connection = Connect();
    std::string reason;
    if (connection) {
      const TimePoint since = SteadyClock::now();
      told = false;
      reason = Serve(*connection);
      // One that fails each time it is asked something is not connected to as fast as it fails.
      if (SteadyClock::now() - since > kLongestDelay) back_off.Reset();
    } else {
      reason = connection.error().message;
    }
    // Of attempts that fail one after the other the first is told.
    if (!std::exchange(told, true)) Tell({RedisNews::What::kDown, reason, 0, 1, {}});
    Lock lock(mutex_);
    changed_.wait_for(lock, back_off.Next(), [this] { return stopping_; });
  }
}

Result<RedisConnection> RedisLink::Connect() {
  const Millis time = std::max(options_.timeout, kConnectTime);
  auto connection = RedisConnection::Open(address_, options_.user, password_, kRateScript, time);
  if (!connection) return connection;
  const auto arguments = ScriptArguments({}, options_.prefix, broker_);
  const auto numbers = connection->RunScript(arguments, time);
  if (!numbers) return Fail(numbers.error());
  const auto answers = ReadAnswers(*numbers, 0);
  if (!answers) return Fail(answers.error());
  Tell({RedisNews::What::kUp, {}, 0, answers->brokers, {}});
  return connection;
}

std::string RedisLink::Serve(RedisConnection& connection) {
  RateBatch batch;
  std::vector<std::uint64_t> numbers;
  while (AwaitBatch(batch, numbers)) {
    const auto said =
        connection.RunScript(ScriptArguments(batch, options_.prefix, broker_), options_.timeout);
    if (!said) return said.error().message;
    auto answers = ReadAnswers(*said, batch.asks.size());
    if (!answers) return answers.error().message;
    RedisNews news{RedisNews::What::kAnswers, {}, 0, answers->brokers, {}};
    for (std::size_t i = 0; i < numbers.size(); ++i)
      news.verdicts.emplace_back(numbers[i], answers->verdicts[i]);
    Tell(std::move(news));
  }
  return stopping() ? "the broker stops" : "the broker has waited too long for an answer";
}

bool RedisLink::AwaitBatch(RateBatch& batch, std::vector<std::uint64_t>& numbers) {
  batch = {};
  numbers.clear();
  Lock lock(mutex_);
  changed_.wait_for(lock, kHeartbeat, [this] { return stopping_ || reset_ || !asks_.empty(); });
  if (stopping_ || reset_) return false;
  for (NumberedAsk& numbered : TakeSome(asks_, kMaxBatch)) {
    numbers.push_back(numbered.number);
    batch.asks.push_back(std::move(numbered.ask));
  }
  batch.returned = TakeSome(returned_, kMaxBatch);
  return true;
}

}  // namespace skerry::broker
