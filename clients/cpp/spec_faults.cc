#include "clients/cpp/spec_faults.h"

#include <algorithm>

#include "common/printable.h"
#include "common/utf8.h"
#include "common/wire/codec.h"

namespace skerry::client {

std::optional<std::string> FaultInLibraries(const std::vector<std::string>& libraries) {
  if (libraries.size() > kMaxLibraries) {
    return "libraries must be at most " + std::to_string(kMaxLibraries) + ", not " +
           std::to_string(libraries.size());
  }
  for (auto name = libraries.begin(); name != libraries.end(); ++name) {
    if (name->empty() || name->size() > kMaxIdBytes) return "libraries must have names of 1 to 256 bytes";
    if (!IsPrintableId(*name) || !IsUtf8Header(*name))
      return "libraries must have names of UTF-8 without control characters";
    if (std::find(libraries.begin(), name, *name) != name) return "libraries names '" + *name + "' twice";
  }
  return std::nullopt;
}

std::optional<std::string> FaultInSpec(const JobSpec& spec) {
  const auto bad = [](const std::string& id) { return id.size() > kMaxIdBytes; };
  if (spec.id.empty() || bad(spec.id.str())) return "id must be 1 to 256 bytes";
  if (spec.tenant.empty() || bad(spec.tenant.str())) return "tenant must be 1 to 256 bytes";
  for (const std::string* text : {&spec.id.str(), &spec.tenant.str(), &spec.user.str(), &spec.turn.str()}) {
    if (!IsPrintableId(*text) || !IsUtf8Header(*text))
      return "id, tenant, user and turn must be UTF-8 without control characters";
  }
  if (bad(spec.user.str())) return "user must be at most 256 bytes";
  if (bad(spec.turn.str())) return "turn must be at most 256 bytes";
  if (spec.turn_executions > 0 && spec.turn.empty()) return "turn_executions needs a turn";
  if (auto fault = FaultInReproducibility(spec)) return fault;
  if (auto fault = FaultInLibraries(spec.libraries)) return fault;
  if (wire::Encode(wire::Submit{spec}).size() > wire::kMaxHeaderBytes) return "limits take too many bytes";
  return std::nullopt;
}

}  // namespace skerry::client
