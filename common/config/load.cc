#include "common/config/load.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace skerry::config {
namespace {

/// The tables of a file; each process checks its own.
const std::vector<std::string> kTables = {"broker", "worker", "client", "libraries"};

/// The same in the names of variables.
const std::vector<std::string> kVariableTables = {"BROKER", "WORKER", "CLIENT"};
constexpr std::size_t kTableMistakes = 2;

using Faults = std::vector<std::string>;

std::string TopOf(const std::string& path) {
  return path.substr(0, path.find('.'));
}

std::vector<std::string> KeysOf(const Settings& settings) {
  std::vector<std::string> keys;
  for (const Setting& setting : settings.all()) {
    if (setting.kind() != Setting::Kind::kFiles) keys.push_back(setting.key());
  }
  return keys;
}

std::optional<std::string> VariableOf(const Environment& environment, std::string_view name) {
  for (const auto& [key, value] : environment) {
    if (key == name) return value;
  }
  return std::nullopt;
}

class Loader {
 public:
  Loader(const std::vector<Settings*>& tables, const Inputs& inputs) : tables_(tables), inputs_(inputs) {}

  Loaded Run() {
    ReadFile();
    CheckVariableTables();
    for (Settings* settings : tables_) ReadVariables(*settings);
    for (Settings* settings : tables_) ReadFlags(*settings);
    return std::move(loaded_);
  }

 private:
  void Complain(std::string fault) { loaded_.faults.push_back(std::move(fault)); }

  /// --config, else SKERRY_CONFIG, else the first place that holds one. A named file is taken as it is.
  std::string FindFile() {
    if (inputs_.config_flag) return *inputs_.config_flag;
    if (const auto named = VariableOf(inputs_.environment, kFileVariable)) return *named;
    for (const std::string& place : inputs_.places) {
      if (access(place.c_str(), F_OK) != 0) continue;
      const auto trusted = CheckTrusted(place);
      if (trusted) {
        found_here_ = !place.starts_with('/');
        return place;
      }
      loaded_.file_unread = true;
      Complain(trusted.error().message);
      return {};
    }
    return {};
  }

  void ReadFile() {
    const std::string path = FindFile();
    if (path.empty()) return;
    loaded_.file = path;
    const auto file = ReadConfigFile(path);
    if (!file) {
      loaded_.file_unread = true;
      return Complain(file.error().message);
    }
    for (const Entry& entry : file->entries) TakeEntry(*file, entry);
    for (auto& [setting, files] : files_) setting->Set(files.list, {Source::From::kFile, files.place});
  }

  /// One of a table of names and files.
  void TakeFile(Setting& setting, const std::string& place, const Entry& entry) {
    if (entry.path == setting.key()) {
      if (!std::holds_alternative<TableValue>(entry.value))
        Complain(place + ": " + setting.key() + " must be a table");
      return;
    }
    // Of a name with dots in it, unquoted.
    if (std::holds_alternative<TableValue>(entry.value)) return;
    const auto* value = std::get_if<Value>(&entry.value);
    const auto* path = value == nullptr ? nullptr : std::get_if<std::string>(value);
    if (path == nullptr || path->empty()) {
      return Complain(place + ": " + Shown(entry.path) + " must be the path of a file");
    }
    if (found_here_ && setting.guarded()) return ComplainOfGuarded(place, entry.path);
    const auto item =
        setting.Accept(TextList{entry.path.substr(setting.key().size() + 1) + "=" + BesideFile(*path)});
    if (!item) return Complain(place + ": " + Shown(entry.path) + " " + item.error().message);
    Files& files = files_[&setting];
    if (files.list.empty()) files.place = place;
    files.list.push_back(std::get<TextList>(*item).front());
  }

  /// Paths of the file are relative to it. operator/ leaves what is absolute as it is.
  std::string BesideFile(const std::string& path) const {
    return std::filesystem::path(loaded_.file).parent_path() / path;
  }

  void ComplainOfGuarded(const std::string& place, const std::string& path) {
    Complain(
        place + ": " + path +
        " is not taken from a file that only lies in this folder: say --config skerry.toml if you trust it");
  }

  void TakeEntry(const ConfigFile& file, const Entry& entry) {
    const std::string place = file.name + ":" + std::to_string(entry.line);
    const std::string top = TopOf(entry.path);
    if (std::find(kTables.begin(), kTables.end(), top) == kTables.end()) {
      if (entry.path == top) {  // said once, not for all that is in it
        const bool is_table = std::holds_alternative<TableValue>(entry.value);
        Complain(place + ": unknown " + (is_table ? "table [" : "key ") + Shown(top) + (is_table ? "]" : "") +
                 "; there are [broker], [worker], [client] and [libraries]" + DidYouMean(top, kTables));
      }
      return;
    }
    for (Settings* settings : tables_) {
      Setting* setting = settings->Find(top);
      if (setting != nullptr && setting->kind() == Setting::Kind::kFiles) TakeFile(*setting, place, entry);
    }
    const auto found =
        std::find_if(tables_.begin(), tables_.end(), [&](const Settings* s) { return s->table() == top; });
    if (found == tables_.end()) return;
    if (entry.path == top) {
      if (!std::holds_alternative<TableValue>(entry.value)) Complain(place + ": " + top + " must be a table");
      return;
    }
    TakeKey(**found, place, entry);
  }

  void TakeKey(Settings& settings, const std::string& place, const Entry& entry) {
    const std::string key = entry.path.substr(settings.table().size() + 1);
    Setting* setting = settings.Find(key);
    if (std::holds_alternative<TableValue>(entry.value)) {
      const bool known = std::any_of(settings.all().begin(), settings.all().end(),
                                     [&](const Setting& s) { return s.key().starts_with(key + "."); });
      if (setting != nullptr) {
        Complain(place + ": " + entry.path + " " + setting->Expectation() + ", got a table");
      } else if (!known && settings.extent() == Extent::kWhole) {
        Complain(place + ": unknown table [" + Shown(entry.path) + "]");
      }
      return;
    }
    // It is a table of its own.
    if (setting != nullptr && setting->kind() == Setting::Kind::kFiles) setting = nullptr;
    if (setting == nullptr) {
      if (settings.extent() == Extent::kPart) return;
      return Complain(place + ": unknown key " + Shown(entry.path) + DidYouMean(key, KeysOf(settings)));
    }
    if (const auto* other = std::get_if<OtherValue>(&entry.value)) {
      return Complain(place + ": " + entry.path + " " + setting->Expectation() + ", got " + other->shown);
    }
    if (found_here_ && setting->guarded()) return ComplainOfGuarded(place, entry.path);
    Value given = std::get<Value>(entry.value);
    auto* path = setting->is_file() ? std::get_if<std::string>(&given) : nullptr;
    if (path != nullptr && !path->empty()) *path = BesideFile(*path);
    auto value = setting->Accept(std::move(given));
    if (!value) return Complain(place + ": " + entry.path + " " + value.error().message);
    setting->Set(*value, {Source::From::kFile, place});
  }

  /// SKERRY_WORKR_JIT would set nothing and say nothing. Names that are near to no table are somebody else's.
  void CheckVariableTables() {
    constexpr std::string_view kPrefix = "SKERRY_";
    for (const auto& [name, text] : inputs_.environment) {
      const std::size_t end = name.find('_', kPrefix.size());
      if (!name.starts_with(kPrefix) || end == std::string::npos) continue;
      const std::string table = name.substr(kPrefix.size(), end - kPrefix.size());
      if (std::find(kVariableTables.begin(), kVariableTables.end(), table) != kVariableTables.end()) continue;
      const std::string meant = DidYouMean(table, kVariableTables, kTableMistakes);
      if (meant.empty()) continue;
      Complain(Shown(name) + ": there are SKERRY_BROKER_*, SKERRY_WORKER_* and SKERRY_CLIENT_*" + meant);
    }
  }

  void ReadVariables(Settings& settings) {
    std::vector<std::string> known;
    for (const Setting& setting : settings.all()) known.push_back(setting.Variable());
    const std::string prefix = settings.VariablePrefix();
    for (const auto& [name, text] : inputs_.environment) {
      if (!name.starts_with(prefix)) continue;
      const auto found = std::find(known.begin(), known.end(), name);
      if (found == known.end()) {
        if (settings.extent() == Extent::kPart) continue;
        Complain(Shown(name) + ": there is no such setting" + DidYouMean(name, known));
        continue;
      }
      Setting& setting = settings.all()[static_cast<std::size_t>(found - known.begin())];
      Take(setting, {text}, name, {Source::From::kVariable, name});
    }
  }

  void Take(Setting& setting, const std::vector<std::string>& texts, const std::string& place,
            Source source) {
    auto value = setting.Parse(texts);
    if (!value) return Complain(place + ": " + value.error().message);
    setting.Set(*value, std::move(source));
  }

  void ReadFlags(Settings& settings) {
    std::vector<std::string> families;
    for (Setting& setting : settings.all()) {
      const auto given = inputs_.flags.find(setting.flag());
      if (given == inputs_.flags.end() || given->second.empty()) continue;
      if (setting.flag_item().empty()) {
        Take(setting, given->second, setting.flag(), {Source::From::kFlag, "flag"});
      } else if (std::find(families.begin(), families.end(), setting.flag()) == families.end()) {
        families.push_back(setting.flag());
        TakeItems(settings, setting.flag(), given->second);
      }
    }
  }

  /// `--ceiling memoryMb=512`, once for each.
  void TakeItems(Settings& settings, const std::string& flag, const std::vector<std::string>& texts) {
    std::vector<std::string> items;
    for (const Setting& setting : settings.all()) {
      if (setting.flag() == flag) items.push_back(setting.flag_item());
    }
    for (const std::string& text : texts) {
      const std::size_t equals = text.find('=');
      const std::string item = text.substr(0, equals);
      const auto setting = std::find_if(settings.all().begin(), settings.all().end(), [&](const Setting& s) {
        return s.flag() == flag && s.flag_item() == item;
      });
      if (equals == std::string::npos && setting != settings.all().end()) {
        Complain(flag + " " + item + ": has no value; say " + flag + " " + item + "=VALUE");
        continue;
      }
      if (setting == settings.all().end()) {
        Complain(flag + " " + Shown(text) + ": must be NAME=VALUE with a name such as " + items.front() +
                 DidYouMean(item, items));
        continue;
      }
      Take(*setting, {text.substr(equals + 1)}, flag + " " + item, {Source::From::kFlag, "flag"});
    }
  }

  const std::vector<Settings*>& tables_;
  const Inputs& inputs_;
  struct Files {
    TextList list;
    std::string place;  // of the first
  };
  std::map<Setting*, Files> files_;
  bool found_here_ = false;  // unasked, in the current folder
  Loaded loaded_;
};

}  // namespace

Loaded Load(const std::vector<Settings*>& tables, const Inputs& inputs) {
  return Loader(tables, inputs).Run();
}

void RequireNeeded(const Settings& settings, Loaded& loaded) {
  if (loaded.file_unread) return;
  std::vector<std::string>& faults = loaded.faults;
  for (const Setting& setting : settings.all()) {
    if (!setting.needed() || setting.source().from != Source::From::kDefault) continue;
    // Given, and wrong: that has been said.
    const bool told = std::any_of(faults.begin(), faults.end(), [&](const std::string& fault) {
      return fault.starts_with(setting.flag() + ":") || fault.starts_with(setting.Variable() + ":") ||
             fault.find(": " + setting.Path() + " ") != std::string::npos;
    });
    if (told) continue;
    faults.push_back(setting.Path() + " must be given: " + setting.Ways());
  }
}

Environment CurrentEnvironment() {
  Environment variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view text(*at);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace skerry::config
