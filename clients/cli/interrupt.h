// SIGINT and SIGTERM as a count that loops look at.
//
// Threads: any; the handler only adds one. System calls that wait return EINTR on the thread that took the
// signal.
#pragma once

#include "common/units.h"

namespace skerry::cli {

/// From here on SIGINT, SIGTERM and SIGHUP are counted instead of fatal, and SIGPIPE is ignored (writes say
/// EPIPE).
void CatchInterrupts();
/// How many came so far. One: stop tidily. Two: stop now.
int Interrupts();
/// Waits, no longer than until the first.
bool InterruptedWithin(Millis time);

}  // namespace skerry::cli
