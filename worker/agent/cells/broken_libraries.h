// Combinations of libraries that could not be evaluated: their jobs are told so at once, and they are tried
// again in a while, with nobody waiting (decision 17).
//
//   broken.Add(key, libraries, now)     ──▶ a job asks, until they have been evaluated: broken.Ask(key)
//   at broken.NextRetry(): for (auto& [key, libraries] : broken.TakeDue(now)) evaluate them;
//   broken.Remove(key), or Add once more, or GiveUp where neither can be said
//
// The first time they are tried again in any case; after that only where a job has asked since the last time,
// so that what nobody wants costs nothing. The delay doubles with each failure in a row. Past the bound the
// one longest unasked-for is forgotten.
//
// Threads: plain data with an injected clock, one owner. Errors: none.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/back_off.h"
#include "common/units.h"
#include "worker/agent/cells/library_shelf.h"

namespace skerry::agent {

class BrokenLibraries {
 public:
  struct Options {
    /// Clients choose the combinations: more than operators ever look at.
    std::size_t most = 256;
    Millis first_delay{1'000};
    /// What never works costs one evaluation a minute, 5 s of CPU at most (cell_recipes.h).
    Millis longest_delay{60'000};
  };
  enum class News : std::uint8_t { kFirst, kAgain };

  explicit BrokenLibraries(Options options) : options_(options) {}

  /// They failed; kAgain: as they did before.
  News Add(const std::string& key, const Libraries& libraries, TimePoint now);
  /// A job names them. True: they are broken.
  bool Ask(const std::string& key);
  /// They have been evaluated. True: they were broken before.
  bool Remove(const std::string& key);
  /// What TakeDue gave was not evaluated to its end; nothing happens to others.
  void GiveUp(const std::string& key);

  std::optional<TimePoint> NextRetry() const;
  /// Those to be tried now; each once until it is added again.
  std::vector<std::pair<std::string, Libraries>> TakeDue(TimePoint now);

  std::size_t size() const { return by_key_.size(); }

 private:
  struct Combination {
    std::string key;
    Libraries libraries;
    BackOff back_off;
    TimePoint retry_at{};
    bool asked = true;  // since it was tried last
    bool trying = false;
    bool waits() const { return asked && !trying; }
  };
  using Combinations = std::list<Combination>;

  void Forget(Combinations::iterator combination);

  const Options options_;
  Combinations combinations_;  // longest unasked-for first
  std::unordered_map<std::string, Combinations::iterator> by_key_;
};

}  // namespace skerry::agent
