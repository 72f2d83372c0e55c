#include "clients/cli/job_line_names.h"

#include <vector>

#include "common/config/settings.h"
#include "common/limits.h"

namespace skerry::cli {
namespace {

// Shorter ones are near to everything.
constexpr std::size_t kMistakes = 2;

const std::vector<std::string>& Fields() {
  static const std::vector<std::string> kFields = {
      "id",         "code",    "input", "mode",    "limits",    "tenant", "user",        "priority",
      "deadlineMs", "retry",   "wasm",  "seed",    "admission", "clock",  "cases",       "stopOn",
      "libraries",  "program", "reuse", "receipt", "encoding",  "turn",   "onDisconnect"};
  return kFields;
}

const std::vector<std::string>& LimitNames() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const LimitSpec& spec : kLimitSpecs) names.emplace_back(spec.name);
    return names;
  }();
  return kNames;
}

}  // namespace

std::string UnknownField(std::string_view name) {
  const std::string shown(name.substr(0, 64));
  if (LimitByName(name)) return "unknown field " + shown + ": it is a limit, limits." + shown;
  const std::string meant = config::DidYouMean(name, Fields(), kMistakes);
  if (!meant.empty()) return "unknown field " + shown + meant;
  std::vector<std::string> limits;
  for (const std::string& limit : LimitNames()) limits.push_back("limits." + limit);
  return "unknown field " + shown + config::DidYouMean("limits." + std::string(name), limits, kMistakes);
}

std::string UnknownLimit(std::string_view name) {
  return "unknown limit limits." + std::string(name.substr(0, 64)) + config::DidYouMean(name, LimitNames());
}

}  // namespace skerry::cli
