// A process's settings from their four sources: flag > SKERRY_* variable > skerry.toml > default.
//
//   const Loaded loaded = Load(settings, {.flags = …, .environment = CurrentEnvironment()});
//   for (const std::string& fault : loaded.faults) ...    // all of them; the settings keep what was valid
//
// Every source is looked at to its end, values that a later one overrides included, so that one start shows
// all that is wrong.
//
// Threads: one. Errors: as faults, each with its place: "skerry.toml:12: broker.max_queued must be ...",
// "SKERRY_BROKER_MAX_QUEUED: must be ...", "--max-queued: must be ...".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/config/config_file.h"
#include "common/config/settings.h"

namespace skerry::config {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Inputs {
  std::optional<std::string> config_flag;  ///< --config; empty text: no file
  /// What each flag was given, by its name; a switch without a value is "true".
  std::map<std::string, std::vector<std::string>> flags;
  Environment environment;
  std::vector<std::string> places = kStandardPlaces;
};

struct Loaded {
  std::string file;  ///< the one that was read; empty: none
  std::vector<std::string> faults;
  /// There is a file, and nothing is known of what it says: what seems to be missing may be in it.
  bool file_unread = false;
};

/// Variable and flag that name the file; the variable's empty text means none, too.
inline constexpr const char* kFileVariable = "SKERRY_CONFIG";
inline constexpr const char* kFileFlag = "--config";

/// Several tables at once for a command that needs parts of more than one.
Loaded Load(const std::vector<Settings*>& tables, const Inputs& inputs);
inline Loaded Load(Settings& settings, const Inputs& inputs) {
  return Load(std::vector<Settings*>{&settings}, inputs);
}

/// Adds a fault for each setting that is needed and was not given; none after a file that was not read.
void RequireNeeded(const Settings& settings, Loaded& loaded);

Environment CurrentEnvironment();

}  // namespace skerry::config
