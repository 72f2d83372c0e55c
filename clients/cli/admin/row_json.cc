#include "clients/cli/admin/row_json.h"

#include <string_view>
#include <vector>

#include "clients/cli/admin/terminal_text.h"
#include "clients/cli/json_text.h"

namespace skerry::cli {
namespace {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& json) : json_(json) {}

  template <class T>
  void Required(std::string_view key, const T& value, wire::Bound = {}) {
    Optional(key, value);
  }
  template <class T>
  void Optional(std::string_view key, const T& value, wire::Bound = {}) {
    if (json_.back() != '{') json_ += ',';
    AppendJsonString(json_, key);
    json_ += ':';
    Write(value);
  }

 private:
  void Write(std::uint64_t number) { json_ += std::to_string(number); }
  void Write(bool flag) { json_ += flag ? "true" : "false"; }
  void Write(const std::string& text) { AppendJsonString(json_, text); }
  void Write(const SessionId& id) { AppendJsonString(json_, id.str()); }
  void Write(const TenantId& id) { AppendJsonString(json_, id.str()); }
  void Write(const std::vector<std::string>& texts) {
    json_ += '[';
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i > 0) json_ += ',';
      AppendJsonString(json_, texts[i]);
    }
    json_ += ']';
  }
  void Write(const wire::NamedCounts& counts) {
    json_ += '{';
    for (const auto& [name, count] : counts.entries) {
      if (json_.back() != '{') json_ += ',';
      AppendJsonString(json_, name);
      json_ += ':' + std::to_string(count);
    }
    json_ += '}';
  }

  std::string& json_;
};

template <class Row>
void Append(std::string& json, const Row& row) {
  std::string text = "{";
  JsonWriter writer(text);
  const_cast<Row&>(row).Visit(writer);  // shared with the decoder; the writer only reads
  json += EscapedJson(text + '}');
}

}  // namespace

void AppendJson(std::string& json, const wire::BrokerRow& row) {
  Append(json, row);
}
void AppendJson(std::string& json, const wire::WorkerRow& row) {
  Append(json, row);
}
void AppendJson(std::string& json, const wire::TenantRow& row) {
  Append(json, row);
}
void AppendJson(std::string& json, const Away& broker) {
  std::string text = "{\"broker\":";
  AppendJsonString(text, broker.broker);
  text += ",\"away\":";
  AppendJsonString(text, broker.why.message);
  json += EscapedJson(text + '}');
}

}  // namespace skerry::cli
