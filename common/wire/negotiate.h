// What two peers agree on at HELLO: the version to speak, and the capabilities that both have.
//
//   Result<std::uint32_t> version = AgreeOnVersion({1, 3}, {2, 5}, "worker");   // 3
//
// Each side names the oldest and the newest version it speaks; they speak the newest that both know, so that
// brokers, workers and clients can be upgraded in any order while one version is common to them. A capability
// is what some peers of a version have and others have not; a peer uses those only that both named.
//
// Errors: kInvalid with both ranges and what to upgrade. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace skerry::wire {

/// Of peers that know `seed`, `clock` and `receipt`: others would drop these unsaid.
inline constexpr std::string_view kReproducibleCapability = "reproducible";

/// Of peers that know `libraries`, `program`, `reuse`, `encoding` and NEED.
inline constexpr std::string_view kProgramsCapability = "programs";

/// Of clients that have no use for ACCEPTED: half of what a small job's client would wake for.
inline constexpr std::string_view kQuietCapability = "quiet";

/// Of peers that know `turn`, `turnExecutions` and `onDisconnect`.
inline constexpr std::string_view kTurnsCapability = "turns";

/// Of clients that have several brokers: what one cannot run for want of workers they take to another.
inline constexpr std::string_view kSpreadsCapability = "spreads";

struct VersionRange {
  std::uint32_t oldest = 0;
  std::uint32_t newest = 0;
};

/// `peer` names the other side in the message: "client", "worker". Version 0 does not exist.
Result<std::uint32_t> AgreeOnVersion(VersionRange ours, VersionRange theirs, std::string_view peer);

/// Of the version that a WELCOME says: whether we speak it. `who` names this side: a broker that knew the
/// range of our HELLO says no other, so that one of the two is broken or much older.
Status CheckAgreed(VersionRange ours, std::uint32_t agreed, std::string_view who);

/// Ours, in our order, without those that they have not; what they have and we do not know is ignored.
std::vector<std::string> CommonCapabilities(const std::vector<std::string>& ours,
                                            const std::vector<std::string>& theirs);
bool HasCapability(const std::vector<std::string>& capabilities, std::string_view wanted);

}  // namespace skerry::wire
