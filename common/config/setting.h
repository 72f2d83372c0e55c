// One setting of a process: its names, its meaning, what may be in it, and the field that it fills.
//
//   Setting& s = settings.Number("max_queued", config.max_queued, {1, 100'000'000}, "jobs that may wait");
//
// Threads: plain data, one thread. Ownership: refers to the field it was declared with, which must outlive
// it. Errors: Parse and Accept say what the setting must be and what was given instead.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/result.h"

namespace skerry::config {

using TextList = std::vector<std::string>;
using Value = std::variant<bool, std::uint64_t, std::string, TextList>;

/// Both ends included. Of texts: their bytes.
struct Range {
  std::uint64_t minimum = 0;
  std::uint64_t maximum = 0;
};

/// Past it a value could not be written into a file: TOML's integers are signed.
inline constexpr std::uint64_t kLargestNumber = INT64_MAX;
/// Paths, endpoints, names: nothing that is longer is meant.
inline constexpr Range kAnyText{0, 4096};

/// Where a value came from; the later ones win.
struct Source {
  enum class From : std::uint8_t { kDefault, kFile, kVariable, kFlag };
  From from = From::kDefault;
  std::string text = "default";  ///< "skerry.toml:7", "SKERRY_BROKER_MAX_QUEUED", "flag"
};

class Setting {
 public:
  /// kFiles: names and their files, each as NAME=PATH; in the file a table of its own.
  enum class Kind : std::uint8_t { kNumber, kSwitch, kText, kChoice, kList, kFiles };
  using TextCheck = std::function<Status(std::string_view)>;

  Setting(Kind kind, std::string table, std::string key, std::string meaning);

  // How a declaration goes on; each returns the setting.
  Setting& TradeOff(std::string text);
  /// What stands for the default where it is computed: "2 x cores".
  Setting& DefaultText(std::string text);
  /// There is no default: a process without it cannot run.
  Setting& Needed();
  /// It names a program or weakens a guard: a skerry.toml that merely lies in the current folder may not set
  /// it, since a folder may come from anybody.
  Setting& Guarded();
  /// The path of a file or folder: in skerry.toml relative to that file, else to the current folder.
  Setting& File();
  /// Of a text, or of each text of a list.
  Setting& Check(TextCheck check);
  /// One flag for a family of settings: `--ceiling memoryMb=512`.
  Setting& FlagItem(std::string flag, std::string item);

  /// What a flag or a variable says: `texts` holds each time it was given.
  Result<Value> Parse(const std::vector<std::string>& texts) const;
  /// A value that has the right type already; texts may stand for one-element lists.
  Result<Value> Accept(Value value) const;
  void Set(const Value& value, Source source);
  std::optional<Value> Get() const { return get_(); }
  /// "must be 1 to 4096", for faults.
  std::string Expectation() const;
  /// "1 to 4096", for the reference.
  std::string RangeText() const;
  /// The default as the reference shows it; taken when the setting was declared.
  const std::string& default_text() const { return default_text_; }

  Kind kind() const { return kind_; }
  const std::string& key() const { return key_; }  ///< inside its table: "max_queued", "ceilings.memoryMb"
  std::string Path() const { return table_ + "." + key_; }
  std::string Variable() const;  ///< SKERRY_BROKER_MAX_QUEUED
  /// "--clients, SKERRY_BROKER_CLIENTS, or clients in [broker] of skerry.toml"
  std::string Ways() const {
    return flag_ + ", " + Variable() + ", or " + key_ + " in [" + table_ + "] of skerry.toml";
  }
  const std::string& flag() const { return flag_; }
  const std::string& flag_item() const { return flag_item_; }
  const std::string& meaning() const { return meaning_; }
  const std::string& trade_off() const { return trade_off_; }
  const Source& source() const { return source_; }
  bool needed() const { return needed_; }
  bool guarded() const { return guarded_; }
  bool is_file() const { return is_file_; }
  /// Needed, and nothing has filled it.
  bool missing() const;

 private:
  friend class Settings;

  Status CheckText(const std::string& text) const;

  Kind kind_;
  std::string table_;
  std::string key_;
  std::string flag_;
  std::string flag_item_;
  std::string meaning_;
  std::string trade_off_;
  std::string default_text_;
  Range range_;
  std::vector<std::string> choices_;
  TextCheck check_;
  bool needed_ = false;
  bool guarded_ = false;
  bool is_file_ = false;
  Source source_;
  std::function<void(const Value&)> set_;
  std::function<std::optional<Value>()> get_;
};

/// A value as TOML writes it.
std::string TomlText(const Value& value);
/// Something a person gave, short enough for a line of complaint.
std::string Shown(std::string_view text);

}  // namespace skerry::config
