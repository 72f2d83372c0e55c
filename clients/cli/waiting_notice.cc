#include "clients/cli/waiting_notice.h"

#include <chrono>
#include <utility>

namespace skerry::cli {
namespace {

// A pool with a free slot answers within milliseconds.
constexpr Millis kPatience{3'000};

}  // namespace

std::optional<std::string> WaitingNotice::Check(std::uint64_t unfinished, const LinkHealth& link,
                                                TimePoint now) {
  if (!link.answers) {
    // It is not looked for any more: why is about to be told.
    if (link.gives_up_in <= Millis(0)) return std::nullopt;
    if (std::exchange(lost_, true)) return std::nullopt;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(link.gives_up_in).count();
    return std::string(link.stopped ? "the broker was stopped" : "the broker does not answer") +
           ": it is looked for again, and given up in " + std::to_string(seconds) + " s";
  }
  if (std::exchange(lost_, false)) {
    since_.reset();
    return "the broker answers again";
  }
  if (done_ || unfinished == 0) return std::nullopt;
  if (!since_) since_ = now;
  if (now - *since_ < kPatience || link.late) return std::nullopt;
  done_ = true;
  const std::string jobs =
      unfinished == 1 ? "1 job waits or runs" : std::to_string(unfinished) + " jobs wait or run";
  return jobs +
         ", and none has ended or said anything yet: they may be long, all workers busy, or none there "
         "(skerry_workers of the broker's /metrics tells); still waiting";
}

}  // namespace skerry::cli
