// Keeps a BrokerDirectory up to date: resolves names and reads files on a thread of its own, which there is
// only where there is something to look up.
//
//   BrokerWatch watch(places, {}, RealLookups(), [&](BrokerWatch::News news) { loop.Post(...); });
//
// Threads: `on_news` is called inside the constructor (the endpoints), then on the watch's thread, never two
// at once. Not for the cell, which may have no thread. Ownership: once the destructor has returned on_news is
// not called any more; a lookup that hangs is left to end by itself. Errors: are news.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/brokers/broker_directory.h"

namespace skerry {

/// How names and files are looked up. Called on the watch's thread; may block for a bounded time.
struct BrokerLookups {
  std::function<Result<std::vector<std::string>>(const std::string& host)> resolve;
  std::function<Result<std::string>(const std::string& path)> read;
};

/// getaddrinfo, given up after `patience` (one that is given up is waited for by the next), and files of at
/// most kMaxBrokerFileBytes.
BrokerLookups RealLookups(Millis patience = Millis(5'000));

class BrokerWatch {
 public:
  struct News {
    BrokerDirectory::Change change;
    std::vector<std::string> faults;
    /// Whether everything has been looked up once: before that, more may come at any moment.
    bool complete = false;
  };
  using OnNews = std::function<void(News)>;

  BrokerWatch(std::vector<BrokerPlace> places, BrokerDirectory::Options options, BrokerLookups lookups,
              OnNews on_news);
  ~BrokerWatch();
  BrokerWatch(const BrokerWatch&) = delete;
  BrokerWatch& operator=(const BrokerWatch&) = delete;

 private:
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);
  static void Tell(Shared& shared, bool always);

  std::shared_ptr<Shared> shared_;
};

}  // namespace skerry
