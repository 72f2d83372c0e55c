// What an operator may set on a broker, as flags, variables and the table [broker] of skerry.toml.
//
// Threads: the main thread, before the server starts. Ownership: the settings refer to the options.
// Errors: each setting's own range here; what spans several in BrokerConfig::Validate.
#pragma once

#include <string>

#include "broker/broker_server.h"
#include "common/config/settings.h"

namespace skerry::broker {

struct BrokerOptions {
  ServerOptions server;
  std::string log_level = "info";
  std::string log_format = "text";
};

/// One line per setting: adding one is adding a line.
void Describe(config::Settings& settings, BrokerOptions& options);

}  // namespace skerry::broker
