// A client that submits more jobs of one tenant than that may have, to one broker, and counts what it is
// told.
//
// Threads: one. Errors: a broker that does not answer fails the test.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "tests/integration/metrics_fixture.h"
#include "tests/integration/raw_client.h"
#include "tests/redis/redis_server.h"

namespace skerry::testing {

/// A broker without workers that shares rates: jobs that are let through stay queued.
class SharingBroker {
 public:
  /// `tenants`: the text of its tenants.toml.
  SharingBroker(const std::string& redis, const std::string& tenants, std::vector<std::string> args = {},
                int workers = 0);

  WatchedPool& watched() { return *watched_; }
  MetricsPage Page() const { return watched_->Page(); }
  bool AwaitUp(double brokers) const;
  bool AwaitDown() const;
  /// Jobs of it let through so far.
  double Accepted() const { return Page().Value("skerry_jobs_accepted_total"); }
  std::string Logs() const { return watched_->pool.Logs(); }

 private:
  TempDir dir_;
  std::unique_ptr<WatchedPool> watched_;
};

class Flood {
 public:
  Flood(SharingBroker& broker, std::string name);

  void Submit();
  /// Reads what has come.
  void Read();
  /// Until every job has been accepted or refused. False: one has not been for 20 s.
  bool AwaitAnswers();

  std::uint64_t submitted() const { return submitted_; }
  std::uint64_t accepted() const { return accepted_.size(); }
  /// Jobs that were told of twice: accepted or refused, never both.
  std::uint64_t doubled() const { return doubled_; }

 private:
  void Take(const wire::Header& header);

  RawClient client_;
  const std::string name_;
  std::uint64_t submitted_ = 0;
  std::uint64_t doubled_ = 0;
  std::set<std::string> accepted_;
  std::set<std::string> refused_;
};

struct Measured {
  double accepted = 0;
  double shortest = 0;  ///< seconds, first to last job submitted
  double longest = 0;   ///< first submitted to last answered
};
/// Submits 300 a second to each of them, for so long.
Measured Offer(const std::vector<Flood*>& floods, Millis time);

}  // namespace skerry::testing
