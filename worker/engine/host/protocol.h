// What the launcher and the preloaded main agree on.
#pragma once

namespace skerry::engine {

/// The leading option of the host's command line. Node refuses it ("bad option", exit 9): if the preload did
/// not take place, nothing of ours or of a tenant's runs as a Node program. The preloaded main requires it
/// and takes it off.
inline constexpr char kPreloadedOption[] = "--skerry-host-was-not-preloaded";

/// The launcher alone: print the host's path and the option above, a line each.
inline constexpr char kHostCommandOption[] = "--host-command";

/// Exit code of a start-up check that failed (EX_CONFIG of sysexits.h).
inline constexpr int kExitBadHost = 78;

}  // namespace skerry::engine
