// A cell gives up who it is: capabilities, the worker's user, the worker's groups.
//
// Threads: single-threaded processes only (capset covers the calling thread). Errors: an errno's text.
#pragma once

#include "common/result.h"
#include "worker/cell/sandbox_report.h"

namespace skerry::cell {

/// The user and group of a cell that may change its own: nobody's account (systemd's UIDS-GIDS leaves this
/// range unused), so that no file and no other process is its.
inline constexpr unsigned kCellUser = 70'001;
/// Inside a user namespace that maps it: see namespaces.h.
inline constexpr unsigned kCellUserInside = 1;

/// Capabilities go for ever: from the bounding set, the ambient set and the process; securebits are locked,
/// so that user 0 is nothing special. `mechanisms`: which namespaces it is in.
///
/// The user is changed only where the worker keeps its hold on the process: raising or lowering another
/// user's limits takes CAP_SYS_RESOURCE, which the worker has over a user namespace that it made, and else
/// perhaps not.
Result<Mechanisms> GiveUpPrivileges(Mechanisms mechanisms);

}  // namespace skerry::cell
