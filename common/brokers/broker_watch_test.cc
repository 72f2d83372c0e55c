#include "common/brokers/broker_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

namespace skerry {
namespace {

constexpr Millis kLong{30'000};

/// Collects news, and waits for what is expected of them.
class Heard {
 public:
  BrokerWatch::OnNews Hook() {
    return [this](BrokerWatch::News news) {
      const std::lock_guard lock(mutex_);
      for (const auto& address : news.change.added) now_.insert(address.endpoint);
      for (const auto& address : news.change.removed) now_.erase(address.endpoint);
      faults_.insert(faults_.end(), news.faults.begin(), news.faults.end());
      complete_ = news.complete;
      changed_.notify_all();
    };
  }
  bool Becomes(const std::set<std::string>& wanted) {
    return Until([&] { return now_ == wanted; });
  }
  bool Complains() {
    return Until([&] { return !faults_.empty(); });
  }
  bool complete() {
    const std::lock_guard lock(mutex_);
    return complete_;
  }
  template <class Condition>
  bool Until(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLong, condition);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> now_;
  std::vector<std::string> faults_;
  bool complete_ = false;
};

std::vector<BrokerPlace> Places(const std::vector<std::string>& texts) {
  return ParseBrokerPlaces(texts).value();
}

TEST(BrokerWatch, EndpointsAreToldBeforeItsConstructorReturns) {
  Heard heard;
  const BrokerWatch watch(Places({"ipc:///a"}), {}, RealLookups(), heard.Hook());
  EXPECT_TRUE(heard.complete());
  EXPECT_TRUE(heard.Becomes({"ipc:///a"}));
}

TEST(BrokerWatch, ANameIsFollowedThroughAnInjectedResolver) {
  Heard heard;
  std::atomic<int> asked = 0;
  BrokerLookups lookups = RealLookups();
  lookups.resolve = [&](const std::string& host) -> Result<std::vector<std::string>> {
    EXPECT_EQ(host, "brokers.test");
    switch (asked++) {
      case 0:
        return std::vector<std::string>{"127.0.0.1", "::1"};
      case 1:
        return Fail(ErrorKind::kUnavailable, "no answer");
      default:
        return std::vector<std::string>{"127.0.0.2", "::1"};
    }
  };
  BrokerDirectory::Options often;
  often.resolve_every = often.retry_after = Millis(1);
  const BrokerWatch watch(Places({"tcp://brokers.test:7"}), often, std::move(lookups), heard.Hook());
  EXPECT_TRUE(heard.Becomes({"tcp://127.0.0.2:7", "tcp://[::1]:7"}));
  EXPECT_TRUE(heard.Complains());
}

TEST(BrokerWatch, AFileIsReadAgainWhenItChanges) {
  const std::string path = std::filesystem::temp_directory_path() / ("brokers-" + std::to_string(getpid()));
  std::ofstream(path) << "ipc:///a\n";
  Heard heard;
  {
    BrokerDirectory::Options often;
    often.read_every = often.retry_after = Millis(1);
    const BrokerWatch watch(Places({"file:" + path}), often, RealLookups(), heard.Hook());
    EXPECT_TRUE(heard.Becomes({"ipc:///a"}));
    std::filesystem::remove(path);
    EXPECT_TRUE(heard.Complains());
    std::ofstream(path) << "ipc:///b\nipc:///a\n";
    EXPECT_TRUE(heard.Becomes({"ipc:///a", "ipc:///b"}));
  }
  std::filesystem::remove(path);
}

TEST(BrokerWatch, TheRealResolverKnowsLocalhostAndSaysWhatItDoesNotKnow) {
  const BrokerLookups lookups = RealLookups();
  const auto local = lookups.resolve("localhost");
  ASSERT_TRUE(local) << local.error().message;
  EXPECT_FALSE(local->empty());
  EXPECT_FALSE(lookups.resolve("no-such-host.invalid"));
}

TEST(BrokerWatch, ItsEndWaitsForNoLookupThatHangs) {
  auto release = std::make_shared<std::atomic<bool>>(false);
  Heard heard;
  std::atomic<bool> asked = false;
  {
    BrokerLookups lookups = RealLookups();
    lookups.resolve = [&, release](const std::string&) -> Result<std::vector<std::string>> {
      asked = true;
      while (!*release) std::this_thread::yield();
      return std::vector<std::string>{"127.0.0.1"};
    };
    const BrokerWatch watch(Places({"tcp://b:7"}), {}, std::move(lookups), heard.Hook());
    while (!asked) std::this_thread::yield();
  }
  *release = true;
  EXPECT_TRUE(heard.Becomes({}));  // and nothing was told
}

}  // namespace
}  // namespace skerry
