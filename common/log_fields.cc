#include "common/log_fields.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace skerry {
namespace {

using nlohmann::json;

/// ASCII only: control characters, those of terminals in U+0080 to U+009F, and right-to-left marks come out
/// as escapes.
std::string Quoted(std::string_view text) {
  std::string cut(text.substr(0, kMaxLogValue));
  if (cut.size() < text.size()) cut += "...";
  return json(std::move(cut)).dump(-1, ' ', true, json::error_handler_t::replace);
}

bool IsPlain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("-_.:/@+%").find(c) != std::string_view::npos;
}

std::string Number(const LogField::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  const double number = std::get<double>(value);
  return std::isfinite(number) ? json(number).dump() : "null";
}

bool IsEmptyText(const LogField& field) {
  const auto* text = std::get_if<std::string_view>(&field.value());
  return text != nullptr && text->empty();
}

}  // namespace

std::string LogLineText(LogText message, LogFields fields) {
  std::string line = message.c_str();
  for (const LogField& field : fields) {
    if (IsEmptyText(field)) continue;
    line += ' ';
    line += field.key();
    line += '=';
    const auto* text = std::get_if<std::string_view>(&field.value());
    if (text == nullptr) {
      line += Number(field.value());
    } else if (text->size() <= kMaxLogValue && std::all_of(text->begin(), text->end(), IsPlain)) {
      line += *text;
    } else {
      line += Quoted(*text);
    }
  }
  return line;
}

std::string LogLineJson(LogText message, LogFields fields) {
  std::string line = "\"message\":" + Quoted(message.c_str());
  for (const LogField& field : fields) {
    if (IsEmptyText(field)) continue;
    line += ",\"";
    line += field.key();
    line += "\":";
    const auto* text = std::get_if<std::string_view>(&field.value());
    line += text == nullptr ? Number(field.value()) : Quoted(*text);
  }
  return line;
}

}  // namespace skerry
