// An operator's row as one JSON object: every field under its wire name, zeros included, so that whoever
// reads it need not know which are left out.
//
// Threads: pure functions. Errors: none.
#pragma once

#include <string>

#include "clients/cli/admin/pool_sample.h"
#include "clients/cli/json_text.h"
#include "common/wire/admin.h"

namespace skerry::cli {

void AppendJson(std::string& json, const wire::BrokerRow& row);
void AppendJson(std::string& json, const wire::WorkerRow& row);
void AppendJson(std::string& json, const wire::TenantRow& row);
/// {"broker":...,"away":"why"}
void AppendJson(std::string& json, const Away& broker);

/// The row, and whose it is under `broker`.
template <class Row>
void AppendJson(std::string& json, const Of<Row>& row) {
  AppendJson(json, row.row);
  json.pop_back();
  json += ",\"broker\":";
  AppendJsonString(json, row.broker);
  json += '}';
}

}  // namespace skerry::cli
