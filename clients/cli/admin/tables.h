// The tables of `skerry workers ls`, `skerry tenants ls` and `skerry tenants usage`.
//
// Threads: pure functions. Errors: none.
#pragma once

#include <vector>

#include "clients/cli/admin/pool_sample.h"
#include "clients/cli/admin/text_table.h"

namespace skerry::cli {

/// Characters of a worker's id that tables show, behind the name that its key gives it; commands take as many
/// as tell it from others.
inline constexpr std::size_t kShownIdChars = 16;

std::string ShownId(const SessionId& worker);
/// Of each row; in full where several workers would look the same.
std::vector<std::string> ShownIds(const std::vector<Of<wire::WorkerRow>>& workers);
std::string ShownName(const wire::TenantRow& tenant);

TextTable WorkersTable(const std::vector<Of<wire::WorkerRow>>& workers, std::size_t brokers);
TextTable TenantsTable(const std::vector<wire::TenantRow>& tenants);
TextTable UsageTable(const std::vector<wire::TenantRow>& tenants);

}  // namespace skerry::cli
