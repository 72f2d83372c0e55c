// An operator's row as one JSON object: every field under its wire name, zeros included, so that whoever
// reads it need not know which are left out.
//
// Threads: pure functions. Errors: none.
#pragma once

#include <string>

#include "common/wire/admin.h"

namespace skerry::cli {

void AppendJson(std::string& json, const wire::BrokerRow& row);
void AppendJson(std::string& json, const wire::WorkerRow& row);
void AppendJson(std::string& json, const wire::TenantRow& row);

}  // namespace skerry::cli
