#include "common/config/print.h"

#include <algorithm>

namespace skerry::config {
namespace {

constexpr std::size_t kCommentColumn = 40;

/// "ceilings" of "ceilings.memoryMb"; empty where the key is in the table itself.
std::string GroupOf(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

std::string Padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string LineOf(const Setting& setting, const std::string& group) {
  const std::string name = group.empty() ? setting.key() : setting.key().substr(group.size() + 1);
  if (setting.missing()) return "# " + name + " must be given: " + setting.Ways();
  const auto value = setting.Get();
  if (!value) return "# " + name + " is not set  # default: " + setting.default_text();
  return Padded(name + " = " + TomlText(*value), kCommentColumn) + "  # " + setting.source().text;
}

/// A table at the top of the file; nothing where it would be empty.
std::string FilesTable(const Setting& setting) {
  const Value value = setting.Get().value_or(TextList());
  std::string text;
  for (const std::string& item : std::get<TextList>(value)) {
    const std::size_t equals = item.find('=');
    text +=
        Padded(TomlText(item.substr(0, equals)) + " = " + TomlText(item.substr(equals + 1)), kCommentColumn) +
        "  # " + setting.source().text + "\n";
  }
  return text.empty() ? text : "\n[" + setting.key() + "]\n" + text;
}

std::string InCode(const std::string& text) {
  return "`" + text + "`";
}

std::string FlagText(const Setting& setting) {
  if (!setting.flag_item().empty()) return setting.flag() + " " + setting.flag_item() + "=N";
  if (setting.kind() == Setting::Kind::kFiles) return setting.flag() + " NAME=PATH";
  return setting.flag();
}

/// Of the table that it is in, or of its own.
std::string KeyText(const Setting& setting) {
  return setting.kind() == Setting::Kind::kFiles ? "NAME` in `[" + setting.key() + "]" : setting.key();
}

}  // namespace

std::string EffectiveToml(const Settings& settings, const std::string& file) {
  std::string text = file.empty() ? "# no configuration file was read\n" : "# read: " + Shown(file) + "\n";
  text += "[" + settings.table() + "]\n";
  std::string group;
  for (const Setting& setting : settings.all()) {
    if (setting.kind() == Setting::Kind::kFiles) continue;
    if (const std::string own = GroupOf(setting.key()); own != group) {
      group = own;
      text += "\n[" + settings.table() + "." + group + "]\n";
    }
    text += LineOf(setting, group) + "\n";
  }
  for (const Setting& setting : settings.all()) {
    if (setting.kind() == Setting::Kind::kFiles) text += FilesTable(setting);
  }
  return text;
}

std::string ReferenceTable(const Settings& settings) {
  std::string text =
      "| key in `[" + settings.table() +
      "]` | flag | variable | default | range | meaning; trade-off |\n|---|---|---|---|---|---|\n";
  for (const Setting& setting : settings.all()) {
    const std::string why = setting.trade_off().empty() ? "" : "; " + setting.trade_off();
    text += "| " + InCode(KeyText(setting)) + " | " + InCode(FlagText(setting)) + " | " +
            InCode(setting.Variable()) + " | " + setting.default_text() + " | " + setting.RangeText() +
            " | " + setting.meaning() + why + " |\n";
  }
  return text;
}

}  // namespace skerry::config
