// The messages and rows of the admin socket to MessagePack and back, under the rules of codec.h.
//
//   std::string page;
//   AppendRow(page, row);
//   Result<std::vector<WorkerRow>> rows = ReadRows<WorkerRow>(page, told.rows);
//
// Errors: what does not decode says which message and field; kUnknownType where only its type is not known.
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/wire/admin.h"

namespace skerry::wire {

std::string EncodeAdmin(const AdminHeader& header);
Result<AdminHeader> DecodeAdmin(std::string_view bytes);

void AppendRow(std::string& page, const BrokerRow& row);
void AppendRow(std::string& page, const WorkerRow& row);
void AppendRow(std::string& page, const TenantRow& row);

/// Exactly `count` rows, which fill the page. For BrokerRow, WorkerRow and TenantRow.
template <class Row>
Result<std::vector<Row>> ReadRows(std::string_view page, std::uint64_t count);

/// The tables of admin.h as JSON, as SchemaJson of the wire's.
std::string AdminSchemaJson();

}  // namespace skerry::wire
