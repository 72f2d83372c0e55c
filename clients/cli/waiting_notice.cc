#include "clients/cli/waiting_notice.h"

namespace skerry::cli {
namespace {

// A pool with a free slot answers within milliseconds.
constexpr Millis kPatience{3'000};

}  // namespace

std::optional<std::string> WaitingNotice::Check(std::uint64_t unfinished, TimePoint now) {
  if (done_ || unfinished == 0) return std::nullopt;
  if (!since_) since_ = now;
  if (now - *since_ < kPatience) return std::nullopt;
  done_ = true;
  const std::string jobs = unfinished == 1 ? "1 job waits" : std::to_string(unfinished) + " jobs wait";
  return jobs +
         " and none has ended yet: the broker may have no worker, or all of them are busy (skerry_workers of "
         "its "
         "/metrics tells); still waiting";
}

}  // namespace skerry::cli
