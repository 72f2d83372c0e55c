#include "common/wire/admin_codec.h"

#include <algorithm>
#include <type_traits>

#include "common/wire/map_codec.h"
#include "common/wire/schema_writer.h"

namespace skerry::wire {
namespace {

template <class Row>
void Append(std::string& page, const Row& row) {
  msgpack::sbuffer buffer(512);
  PackMap(row, "", buffer);
  page.append(buffer.data(), buffer.size());
}

template <class... Messages>
std::string Tables() {
  std::string json;
  const auto add = [&json]<class Message>(Message message) {
    SchemaWriter writer(Message::kType);
    message.Visit(writer);
    json += (json.empty() ? "" : ",\n") + writer.Json();
  };
  (add(Messages{}), ...);
  return json;
}

}  // namespace

std::string EncodeAdmin(const AdminHeader& header) {
  msgpack::sbuffer buffer(256);
  std::visit(
      [&](const auto& message) { PackMap(message, std::remove_cvref_t<decltype(message)>::kType, buffer); },
      header);
  return std::string(buffer.data(), buffer.size());
}

Result<AdminHeader> DecodeAdmin(std::string_view bytes) {
  auto handle = UnpackMap(bytes);
  if (!handle) return Fail(handle.error());
  const msgpack::object_map& map = handle->get().via.map;
  const auto type = TypeOf(map);
  if (!type) return Fail(type.error());
  return UnpackAs<AdminHeader>(*type, map);
}

void AppendRow(std::string& page, const BrokerRow& row) {
  Append(page, row);
}
void AppendRow(std::string& page, const WorkerRow& row) {
  Append(page, row);
}
void AppendRow(std::string& page, const TenantRow& row) {
  Append(page, row);
}

template <class Row>
Result<std::vector<Row>> ReadRows(std::string_view page, std::uint64_t count) {
  std::vector<Row> rows;
  rows.reserve(std::min(count, kMaxAdminRows));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::size_t used = 0;
    auto handle = UnpackMapAt(page, used);
    if (!handle) return Fail(ErrorKind::kInvalid, "row " + std::to_string(i) + ": " + handle.error().message);
    auto row = Unpack<Row>(handle->get().via.map);
    if (!row) return Fail(row.error());
    rows.push_back(std::move(*row));
    page.remove_prefix(used);
  }
  if (!page.empty()) return Fail(ErrorKind::kInvalid, "bytes after the last row");
  return rows;
}
template Result<std::vector<BrokerRow>> ReadRows<BrokerRow>(std::string_view, std::uint64_t);
template Result<std::vector<WorkerRow>> ReadRows<WorkerRow>(std::string_view, std::uint64_t);
template Result<std::vector<TenantRow>> ReadRows<TenantRow>(std::string_view, std::uint64_t);

std::string AdminSchemaJson() {
  return "{\"version\": " + std::to_string(kAdminVersion) + ", \"messages\": [\n" +
         Tables<Ask, Told, Denied, BrokerRow, WorkerRow, TenantRow>() + "\n]}\n";
}

}  // namespace skerry::wire
