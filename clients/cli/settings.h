// What a user may set for `skerry run` and `skerry exec`, as flags, variables and the table [client] of
// skerry.toml.
//
// Threads: the main thread. Ownership: the settings refer to the options. Errors: each setting's own range
// here; that a private pool's settings have nothing to apply to, in CheckPoolFlags.
#pragma once

#include <string>

#include "clients/cli/connection.h"
#include "common/config/settings.h"

namespace skerry::cli {

/// One line per setting: adding one is adding a line.
void Describe(config::Settings& settings, ConnectOptions& options);

/// Whether a setting is about the private pool that is started where no broker is named.
bool IsOfPrivatePool(const config::Setting& setting);

/// What several settings say together: CheckPoolFlags, the keys of a link to a broker, and the tenant that
/// the key's file names. Errors: one line per fault.
Status FinishConnection(const config::Settings& settings, ConnectOptions& options);

/// With a broker there is no private pool: flags for one are faults; what a file or variable says is for
/// other runs. One line per fault.
Status CheckPoolFlags(const config::Settings& settings, const ConnectOptions& options);

}  // namespace skerry::cli
