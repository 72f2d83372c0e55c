#include "clients/cli/admin/admin_arguments.h"

#include <cstdio>
#include <utility>

#include "clients/cli/interrupt.h"
#include "clients/cli/say.h"
#include "clients/cli/settings.h"

namespace skerry::cli {

AdminArguments::AdminArguments(CLI::App& app) : line_(app, "skerry") {
  Describe(settings_, options_);
  for (const char* key : {"admin", "admin_key", "broker_key"}) line_.AddFlag(settings_.At(key));
  app.add_flag("--json", json_, "one JSON object a line, every field under its name in schemas/admin.md");
}

std::optional<int> AdminArguments::Open(std::optional<AdminPool>& pool) {
  const auto start = line_.Configure(settings_, [] { return Status(); });
  if (start.exit) return start.exit;
  CatchInterrupts();
  auto opened = AdminPool::Open({options_.admin, options_.admin_key_file, options_.broker_key});
  if (!opened) return ComplainOf(opened.error());
  pool.emplace(std::move(*opened));
  return std::nullopt;
}

void AdminArguments::Name(const std::vector<Away>& away, std::vector<std::string>& lines) const {
  for (const Away& broker : away) {
    if (json_) {
      AppendJson(lines.emplace_back(), broker);
    } else {
      Say(broker.why.message);
    }
  }
}

int ComplainOf(const Error& error) {
  if (Interrupts() > 0) return kExitInterrupted;
  return Complain(error.message, ExitCodeOf(error));
}

}  // namespace skerry::cli
