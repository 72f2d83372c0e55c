// All settings of one process: a table of skerry.toml, a prefix of variables, the flags of a command.
//
//   BrokerConfig config;
//   Settings settings("broker");
//   settings.Number("max_queued", config.max_queued, {1, 100'000'000}, "jobs that may wait for a worker");
//   settings.Duration("heartbeat_ms", config.heartbeat, {10, 60'000}, "a PING goes to every peer this
//   often");
//
// One declaration makes the flag --max-queued, the variable SKERRY_BROKER_MAX_QUEUED, the key max_queued in
// [broker], the line of --print-config and the row of docs/configuration.md. The field's value at that moment
// is the default. Times and sizes carry their unit in the key's last part.
//
// Threads: one. Ownership: refers to the fields, which must outlive it.
#pragma once

#include <concepts>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/config/setting.h"
#include "common/limits.h"
#include "common/units.h"

namespace skerry::config {

/// Whether keys and variables that are not declared are faults (the process's own), or somebody else's
/// business (a command that needs a few of a process's settings).
enum class Extent : std::uint8_t { kWhole, kPart };

class Settings {
 public:
  explicit Settings(std::string table, Extent extent = Extent::kWhole)
      : table_(std::move(table)), extent_(extent) {}
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  /// Any unsigned integer; the range must fit into it.
  template <std::unsigned_integral Field>
  Setting& Number(std::string key, Field& field, Range range, std::string meaning) {
    return Add(
        Setting::Kind::kNumber, std::move(key), range, std::move(meaning),
        [&field](const Value& value) { field = static_cast<Field>(std::get<std::uint64_t>(value)); },
        [&field] { return Value(std::uint64_t{field}); });
  }
  /// A number that may be left unset.
  Setting& Number(std::string key, std::optional<std::uint64_t>& field, Range range, std::string meaning);
  Setting& Duration(std::string key_ms, Millis& field, Range range_ms, std::string meaning);
  Setting& Size(std::string key_mib, Bytes& field, Range range_mib, std::string meaning);
  Setting& Switch(std::string key, bool& field, std::string meaning);
  Setting& Text(std::string key, std::string& field, Range bytes, std::string meaning);
  Setting& Choice(std::string key, std::string& field, std::vector<std::string> choices, std::string meaning);
  Setting& List(std::string key, TextList& field, std::string meaning);
  /// The table [KEY] of the file, beside the process's own: NAME = "PATH", relative to the file. As a flag,
  /// NAME=PATH, once for each. Guarded, since it names files.
  Setting& Files(std::string key, std::string flag, TextList& field, std::string meaning);
  /// One setting per limit of a job, `ceilings.NAME`, all under the flag --ceiling NAME=VALUE.
  void CeilingsOf(Ceilings& ceilings);

  const std::string& table() const { return table_; }
  Extent extent() const { return extent_; }
  /// "SKERRY_BROKER_"
  std::string VariablePrefix() const;
  std::deque<Setting>& all() { return all_; }
  const std::deque<Setting>& all() const { return all_; }
  Setting* Find(std::string_view key);
  const Setting& At(std::string_view key) const;
  bool IsGiven(std::string_view key) const { return At(key).source().from != Source::From::kDefault; }

  /// A fault that a struct's own Validate found, told where its value was given: `fault` begins with the
  /// flag, or with the key; a unit at its end may be another or none. A default's fault names its setting.
  std::string Located(const std::string& fault) const;
  /// The setting that such a fault begins with, or null.
  const Setting* Blamed(const std::string& fault) const;

 private:
  Setting& Add(Setting::Kind kind, std::string key, Range range, std::string meaning,
               std::function<void(const Value&)> set, std::function<std::optional<Value>()> get);

  std::string table_;
  Extent extent_;
  std::deque<Setting> all_;  // never moved: commands hold on to single settings
};

/// More than this many typing mistakes is another word.
inline constexpr std::size_t kMostMistakes = 3;
/// "did you mean 'x'?" with a leading "; ", or nothing where no candidate is near.
std::string DidYouMean(std::string_view given, const std::vector<std::string>& candidates,
                       std::size_t most_mistakes = kMostMistakes);

}  // namespace skerry::config
