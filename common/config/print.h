// Settings as text: for --print-config, and for the reference in docs/configuration.md.
//
// Threads: pure functions.
#pragma once

#include <string>

#include "common/config/settings.h"

namespace skerry::config {

/// What is in force as a skerry.toml that gives the same again, each line with its source as a comment. What
/// is not set is a comment, and so is what must be given and was not.
std::string EffectiveToml(const Settings& settings, const std::string& file);
/// A Markdown table: key, flag, variable, default, range, meaning and trade-off.
std::string ReferenceTable(const Settings& settings);

}  // namespace skerry::config
