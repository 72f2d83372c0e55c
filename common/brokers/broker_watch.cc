#include "common/brokers/broker_watch.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace skerry {
namespace {

Result<std::vector<std::string>> AddressesOf(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found); error != 0) {
    return Fail(ErrorKind::kUnavailable, std::string("cannot be resolved: ") + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* at = found; at != nullptr && addresses.size() <= kMaxBrokers; at = at->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(at->ai_addr, at->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0)
      addresses.emplace_back(text.data());
  }
  return addresses;
}

/// One getaddrinfo at a time, on a thread that whoever waits may leave behind.
class PatientResolver {
 public:
  explicit PatientResolver(Millis patience) : patience_(patience), state_(std::make_shared<State>()) {}

  Result<std::vector<std::string>> operator()(const std::string& host) const {
    std::unique_lock lock(state_->mutex);
    const auto deadline = SteadyClock::now() + patience_;
    if (!state_->idle.wait_until(lock, deadline, [&] { return !state_->busy; }))
      return Fail(ErrorKind::kUnavailable, "cannot be resolved: the resolver is busy with another name");
    state_->busy = true;
    state_->answer.reset();
    std::thread([state = state_, host] {
      auto answer = AddressesOf(host);
      const std::lock_guard done(state->mutex);
      state->answer.emplace(std::move(answer));
      state->busy = false;
      state->idle.notify_all();
    }).detach();
    if (!state_->idle.wait_until(lock, deadline, [&] { return !state_->busy; })) {
      return Fail(ErrorKind::kUnavailable,
                  "cannot be resolved: no answer within " + std::to_string(patience_.count()) + " ms");
    }
    return std::move(*state_->answer);
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable idle;
    bool busy = false;
    std::optional<Result<std::vector<std::string>>> answer;
  };
  Millis patience_;
  std::shared_ptr<State> state_;
};

Result<std::string> TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxBrokerFileBytes + 1, '\0');
  if (!file) return Fail(ErrorKind::kUnavailable, std::string("cannot be read: ") + std::strerror(errno));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Fail(ErrorKind::kUnavailable, "cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

BrokerLookups RealLookups(Millis patience) {
  return {PatientResolver(patience), &TextOf};
}

struct BrokerWatch::Shared {
  Shared(std::vector<BrokerPlace> places, BrokerDirectory::Options options, BrokerLookups how, OnNews tell)
      : directory(std::move(places), options, SteadyClock::now()),
        lookups(std::move(how)),
        on_news(std::move(tell)) {}

  BrokerDirectory directory;  // the thread's
  const BrokerLookups lookups;
  std::mutex mutex;  // held while on_news runs, so that none does after the destructor
  std::condition_variable stop;
  OnNews on_news;  // null: stopped
  bool complete = false;
};

BrokerWatch::BrokerWatch(std::vector<BrokerPlace> places, BrokerDirectory::Options options,
                         BrokerLookups lookups, OnNews on_news)
    : shared_(std::make_shared<Shared>(std::move(places), options, std::move(lookups), std::move(on_news))) {
  Tell(*shared_, true);
  if (!shared_->directory.fixed()) std::thread([shared = shared_] { Run(shared); }).detach();
}

BrokerWatch::~BrokerWatch() {
  const std::lock_guard lock(shared_->mutex);
  shared_->on_news = nullptr;
  shared_->stop.notify_all();
}

void BrokerWatch::Tell(Shared& shared, bool always) {
  News news{shared.directory.TakeChange(), shared.directory.TakeFaults(), shared.directory.complete()};
  const bool now_complete = news.complete && !shared.complete;
  shared.complete = news.complete;
  if (!always && news.change.empty() && news.faults.empty() && !now_complete) return;
  const std::lock_guard lock(shared.mutex);
  if (shared.on_news) shared.on_news(std::move(news));
}

void BrokerWatch::Run(const std::shared_ptr<Shared>& shared) {
  BrokerDirectory& directory = shared->directory;
  for (;;) {
    {
      std::unique_lock lock(shared->mutex);
      const TimePoint next = directory.NextDue();
      if (shared->stop.wait_until(lock, next, [&] { return !shared->on_news; })) return;
    }
    for (const auto& [kind, name] : directory.Due(SteadyClock::now())) {
      if (kind == BrokerPlace::Kind::kFile) {
        const auto text = shared->lookups.read(name);
        directory.OnFile(name, text, SteadyClock::now());
      } else {
        const auto addresses = shared->lookups.resolve(name);
        directory.OnResolved(name, addresses, SteadyClock::now());
      }
      Tell(*shared, false);
    }
  }
}

}  // namespace skerry
