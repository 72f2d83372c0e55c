// The namespaces that a cell lives in, and what its users are called in them.
//
// Threads: UnshareNamespaces is async-signal-safe (it runs in a fork of a process with threads); WriteIdMaps
// is the parent's. Errors: what cannot be had is not in the answer.
#pragma once

#include <sys/types.h>

#include "worker/cell/sandbox_report.h"

namespace skerry::cell {

/// User and PID namespaces together or, for root where users may have none, PID alone; then network, IPC and
/// UTS, each where it is to be had. Children of the caller are in them.
Mechanisms UnshareNamespaces();

/// A mount namespace, where it is to be had: kEmptyRoot, whose root is not empty yet. Whoever shares it loses
/// its files when the cell empties it.
Mechanisms UnshareMounts();

/// Names for the user namespace of `pid`, a child of ours that has just made it: its 0 is the calling user;
/// where the caller is root, its kCellUserInside is kCellUser, or "nobody" where an outer namespace has no
/// such number. Without a map, or with the first alone, the cell keeps what the kernel gives it: nothing is
/// granted by a failure.
void WriteIdMaps(pid_t pid);

}  // namespace skerry::cell
