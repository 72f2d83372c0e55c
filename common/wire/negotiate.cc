#include "common/wire/negotiate.h"

#include <algorithm>

namespace skerry::wire {
namespace {

std::string Text(VersionRange range) {
  return std::to_string(range.oldest) + " to " + std::to_string(range.newest);
}

}  // namespace

Result<std::uint32_t> AgreeOnVersion(VersionRange ours, VersionRange theirs, std::string_view peer) {
  const std::string who(peer);
  if (theirs.oldest < 1 || theirs.oldest > theirs.newest) {
    return Fail(ErrorKind::kInvalid, "this " + who + " says it speaks wire versions " + Text(theirs) +
                                         ", which is no range: 'vOldest' must be at least 1 and at most 'v'");
  }
  const std::string both =
      "this " + who + " speaks wire versions " + Text(theirs) + ", this broker " + Text(ours) + ": ";
  if (theirs.newest < ours.oldest) return Fail(ErrorKind::kInvalid, both + "upgrade the " + who);
  if (theirs.oldest > ours.newest) return Fail(ErrorKind::kInvalid, both + "upgrade the broker");
  return std::min(ours.newest, theirs.newest);
}

Status CheckAgreed(VersionRange ours, std::uint32_t agreed, std::string_view who) {
  if (agreed >= ours.oldest && agreed <= ours.newest) return {};
  return Fail(ErrorKind::kUnavailable, "the broker wants to speak wire version " + std::to_string(agreed) +
                                           ", this " + std::string(who) + " speaks " + Text(ours) +
                                           ": upgrade the " +
                                           (agreed < ours.oldest ? "broker" : std::string(who)));
}

std::vector<std::string> CommonCapabilities(const std::vector<std::string>& ours,
                                            const std::vector<std::string>& theirs) {
  std::vector<std::string> common;
  for (const std::string& capability : ours) {
    if (HasCapability(theirs, capability)) common.push_back(capability);
  }
  return common;
}

bool HasCapability(const std::vector<std::string>& capabilities, std::string_view wanted) {
  return std::find(capabilities.begin(), capabilities.end(), wanted) != capabilities.end();
}

}  // namespace skerry::wire
