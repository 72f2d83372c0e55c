// `skerry tenants ls` and `skerry tenants usage`.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clients/cli/admin/admin_arguments.h"
#include "clients/cli/admin/tables.h"
#include "clients/cli/admin/terminal_text.h"
#include "clients/cli/commands.h"

namespace skerry::cli {
namespace {

constexpr const char* kExamples =
    "  skerry tenants ls                       what each may have, has, and was refused\n"
    "  skerry tenants usage                    what each has had since the broker began\n"
    "  skerry tenants usage acme --json\n"
    "  skerry tenants ls --admin ipc:///run/skerry/admin\n";

constexpr const char* kAbout =
    "Tenants of tenants.toml, and those that have submitted anything since the broker began; when these are "
    "more than 10,000,\nthe rest is summed up as (others). All counts begin with the broker. Refused "
    "submissions are no jobs.\n";

/// Both take the same rows; they differ in the columns.
class TenantRows : public Command {
 public:
  using Table = TextTable (*)(const std::vector<wire::TenantRow>&);
  TenantRows(CLI::App* app, Table table) : Command(app), arguments_(*app), table_(table) {
    config::SetHelp(*app, {kExamples, std::string(kAbout) + kAdminHelp});
    app->add_option("tenant", tenant_, "one tenant's name")->type_name("TENANT");
  }
  int Run() override {
    std::optional<AdminPool> pool;
    if (const auto exit = arguments_.Open(pool)) return *exit;
    const auto rows = tenant_.empty() ? pool->Tenants() : One(*pool);
    if (!rows) return ComplainOf(rows.error());
    std::vector<std::string> lines;
    if (!rows->said.empty() || tenant_.empty())
      lines = arguments_.json() ? JsonLines(rows->said) : table_(rows->said).Lines(TextTable::kAnyWidth);
    arguments_.Name(rows->away, lines);
    const int printed = Printed(lines);
    if (printed != kExitOk || tenant_.empty() || !rows->said.empty()) return printed;
    // A broker that does not answer may have heard of it.
    return ComplainOf(
        {rows->away.empty() ? ErrorKind::kInvalid : ErrorKind::kUnavailable,
         "no broker has heard of tenant '" + TerminalText(tenant_) + "', and it is not in tenants.toml"});
  }

 private:
  Result<Heard<std::vector<wire::TenantRow>>> One(AdminPool& pool) const {
    auto one = pool.Tenant(tenant_);
    if (!one) return Fail(one.error());
    Heard<std::vector<wire::TenantRow>> rows{{}, std::move(one->away)};
    if (one->said) rows.said.push_back(*std::move(one->said));
    return rows;
  }

  AdminArguments arguments_;
  std::string tenant_;
  Table table_;
};

class TenantsCommand : public Command {
 public:
  explicit TenantsCommand(CLI::App* app)
      : Command(app),
        ls_(app->add_subcommand("ls", "what tenants may have, have, and were refused"), &TenantsTable),
        usage_(app->add_subcommand("usage", "what tenants have had"), &UsageTable) {
    config::SetHelp(*app, {kExamples, std::string(kAbout) + kAdminHelp});
  }
  int Run() override {
    if (usage_.chosen()) return usage_.Run();
    if (ls_.chosen()) return ls_.Run();
    return config::Complain("skerry", "tenants needs ls or usage; `skerry tenants --help` says more");
  }

 private:
  TenantRows ls_;
  TenantRows usage_;
};

}  // namespace

std::unique_ptr<Command> MakeTenants(CLI::App& parent) {
  return std::make_unique<TenantsCommand>(parent.add_subcommand("tenants", "list tenants and their usage"));
}

}  // namespace skerry::cli
