#include "common/config/settings.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace skerry::config {
namespace {

/// Levenshtein's, by rows.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row.back();
}

/// A struct's field has its unit in its type where the key has it in its name: heartbeat is heartbeat_ms.
std::string_view WithoutUnit(std::string_view name) {
  for (const std::string_view unit : {"_ms", "_mib", "_kib", "_bytes"}) {
    if (name.ends_with(unit)) return name.substr(0, name.size() - unit.size());
  }
  return name;
}

}  // namespace

Setting& Settings::Add(Setting::Kind kind, std::string key, Range range, std::string meaning,
                       std::function<void(const Value&)> set, std::function<std::optional<Value>()> get) {
  Setting& setting = all_.emplace_back(kind, table_, std::move(key), std::move(meaning));
  setting.range_ = range;
  setting.set_ = std::move(set);
  setting.get_ = std::move(get);
  if (const auto value = setting.Get()) {
    const auto* text = std::get_if<std::string>(&*value);
    setting.default_text_ = text == nullptr ? TomlText(*value) : text->empty() ? "none" : *text;
  } else {
    setting.default_text_ = "none";
  }
  return setting;
}

Setting& Settings::Number(std::string key, std::optional<std::uint64_t>& field, Range range,
                          std::string meaning) {
  return Add(
      Setting::Kind::kNumber, std::move(key), range, std::move(meaning),
      [&field](const Value& value) { field = std::get<std::uint64_t>(value); },
      [&field] { return field ? std::optional<Value>(*field) : std::nullopt; });
}

Setting& Settings::Duration(std::string key_ms, Millis& field, Range range_ms, std::string meaning) {
  return Add(
      Setting::Kind::kNumber, std::move(key_ms), range_ms, std::move(meaning),
      [&field](const Value& value) { field = Millis(std::get<std::uint64_t>(value)); },
      [&field] { return Value(static_cast<std::uint64_t>(field.count())); });
}

Setting& Settings::Size(std::string key_mib, Bytes& field, Range range_mib, std::string meaning) {
  return Add(
      Setting::Kind::kNumber, std::move(key_mib), range_mib, std::move(meaning),
      [&field](const Value& value) { field = Bytes::MiB(std::get<std::uint64_t>(value)); },
      [&field] { return Value(field.mib()); });
}

Setting& Settings::Switch(std::string key, bool& field, std::string meaning) {
  return Add(
      Setting::Kind::kSwitch, std::move(key), {}, std::move(meaning),
      [&field](const Value& value) { field = std::get<bool>(value); }, [&field] { return Value(field); });
}

Setting& Settings::Text(std::string key, std::string& field, Range bytes, std::string meaning) {
  return Add(
      Setting::Kind::kText, std::move(key), bytes, std::move(meaning),
      [&field](const Value& value) { field = std::get<std::string>(value); },
      [&field] { return Value(field); });
}

Setting& Settings::Choice(std::string key, std::string& field, std::vector<std::string> choices,
                          std::string meaning) {
  Setting& setting = Text(std::move(key), field, kAnyText, std::move(meaning));
  setting.kind_ = Setting::Kind::kChoice;
  setting.choices_ = std::move(choices);
  return setting;
}

Setting& Settings::List(std::string key, TextList& field, std::string meaning) {
  return Add(
      Setting::Kind::kList, std::move(key), {1, kAnyText.maximum}, std::move(meaning),
      [&field](const Value& value) { field = std::get<TextList>(value); }, [&field] { return Value(field); });
}

Setting& Settings::Files(std::string key, std::string flag, TextList& field, std::string meaning) {
  Setting& setting = List(std::move(key), field, std::move(meaning));
  setting.kind_ = Setting::Kind::kFiles;
  setting.flag_ = std::move(flag);
  return setting.DefaultText("none").Guarded();
}

void Settings::CeilingsOf(Ceilings& ceilings) {
  for (const LimitSpec& spec : kLimitSpecs) {
    const std::string name(spec.name);
    Add(
        Setting::Kind::kNumber, "ceilings." + name, {spec.minimum, spec.hard_maximum},
        "the most that a job may ask for as " + name,
        [&ceilings, id = spec.id](const Value& value) { ceilings.Set(id, std::get<std::uint64_t>(value)); },
        [&ceilings, id = spec.id] { return Value(ceilings.Get(id)); })
        .FlagItem("--ceiling", name);
  }
}

std::string Settings::VariablePrefix() const {
  std::string prefix = "SKERRY_";
  for (const char c : table_) prefix += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return prefix + "_";
}

Setting* Settings::Find(std::string_view key) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Setting& s) { return s.key() == key; });
  return found == all_.end() ? nullptr : &*found;
}

const Setting& Settings::At(std::string_view key) const {
  for (const Setting& setting : all_) {
    if (setting.key() == key) return setting;
  }
  throw std::logic_error("no setting " + std::string(key) + " in " + table_);
}

const Setting* Settings::Blamed(const std::string& fault) const {
  const std::string name = fault.substr(0, fault.find_first_of(": "));
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Setting& s) {
    return name == s.flag() || WithoutUnit(name) == WithoutUnit(s.key());
  });
  return found == all_.end() ? nullptr : &*found;
}

std::string Settings::Located(const std::string& fault) const {
  const Setting* setting = Blamed(fault);
  if (setting == nullptr) return fault;
  const std::size_t rest = fault.find_first_not_of(": ", fault.find_first_of(": "));
  const std::string said = rest == std::string::npos ? "" : fault.substr(rest);
  switch (setting->source().from) {
    case Source::From::kDefault:
      return setting->Path() + " " + said;
    case Source::From::kFile:
      return setting->source().text + ": " + setting->Path() + " " + said;
    case Source::From::kVariable:
      return setting->source().text + ": " + said;
    case Source::From::kFlag:
      return setting->flag() + ": " + said;
  }
  return fault;
}

std::string DidYouMean(std::string_view given, const std::vector<std::string>& candidates,
                       std::size_t most_mistakes) {
  const std::string* nearest = nullptr;
  std::size_t smallest = most_mistakes + 1;
  // A long name costs quadratic time, and is nobody's typing mistake.
  if (given.size() > 64) return {};
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(given, candidate);
    if (distance < smallest && distance < candidate.size()) {
      smallest = distance;
      nearest = &candidate;
    }
  }
  return nearest == nullptr ? "" : "; did you mean '" + *nearest + "'?";
}

}  // namespace skerry::config
