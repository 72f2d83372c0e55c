#include "common/config/setting.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <utility>

#include "common/printable.h"
#include "common/text_check.h"
#include "common/utf8.h"

namespace skerry::config {
namespace {

constexpr std::size_t kShownBytes = 64;

std::string FlagOf(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

/// A TOML basic string.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (IsControl(c)) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned char>(c));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::optional<std::uint64_t> NumberOf(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<bool> SwitchOf(std::string_view text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return std::nullopt;
}

/// "a,b" is two; nothing is none.
TextList Split(std::string_view text) {
  TextList items;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    items.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return items;
}

}  // namespace

Setting::Setting(Kind kind, std::string table, std::string key, std::string meaning)
    : kind_(kind),
      table_(std::move(table)),
      key_(std::move(key)),
      flag_(FlagOf(key_)),
      meaning_(std::move(meaning)) {}

Setting& Setting::TradeOff(std::string text) {
  trade_off_ = std::move(text);
  return *this;
}

Setting& Setting::DefaultText(std::string text) {
  default_text_ = std::move(text);
  return *this;
}

Setting& Setting::Guarded() {
  guarded_ = true;
  return *this;
}

Setting& Setting::File() {
  is_file_ = true;
  return *this;
}

Setting& Setting::Needed() {
  needed_ = true;
  default_text_ = "none: must be given";
  return *this;
}

Setting& Setting::Check(TextCheck check) {
  check_ = std::move(check);
  return *this;
}

Setting& Setting::FlagItem(std::string flag, std::string item) {
  flag_ = std::move(flag);
  flag_item_ = std::move(item);
  return *this;
}

bool Setting::missing() const {
  if (!needed_ || source_.from != Source::From::kDefault) return false;
  const auto value = get_();
  if (!value) return true;
  const auto* text = std::get_if<std::string>(&*value);
  const auto* list = std::get_if<TextList>(&*value);
  return (text != nullptr && text->empty()) || (list != nullptr && list->empty());
}

std::string Setting::Variable() const {
  std::string name = "SKERRY_";
  const std::string path = Path();
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    // ceilings.memoryMb: CEILINGS_MEMORY_MB
    if (std::isupper(static_cast<unsigned char>(c))) name += '_';
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

std::string Setting::RangeText() const {
  switch (kind_) {
    case Kind::kNumber:
      return std::to_string(range_.minimum) + " to " + std::to_string(range_.maximum);
    case Kind::kSwitch:
      return "true or false";
    case Kind::kChoice:
      return Joined(choices_);
    case Kind::kText:
      if (is_file_) return "path";
      return range_.minimum == 0 ? "text" : "text of 1 to " + std::to_string(range_.maximum) + " bytes";
    case Kind::kList:
      return "list of texts";
    case Kind::kFiles:
      return "names and paths";
  }
  return {};
}

std::string Setting::Expectation() const {
  switch (kind_) {
    case Kind::kNumber:
      return "must be a whole number, " + RangeText();
    case Kind::kText:
      return "must be a text of " + std::to_string(range_.minimum) + " to " + std::to_string(range_.maximum) +
             " bytes";
    case Kind::kList:
      return "must be a list of texts";
    case Kind::kFiles:
      return "must be NAME=PATH";
    default:
      return "must be " + RangeText();
  }
}

Result<Value> Setting::Parse(const std::vector<std::string>& texts) const {
  if (kind_ == Kind::kList || kind_ == Kind::kFiles) {
    TextList all;
    for (const std::string& text : texts) {
      for (std::string& item : Split(text)) all.push_back(std::move(item));
    }
    return Accept(std::move(all));
  }
  if (texts.size() != 1) {
    return Fail(ErrorKind::kInvalid, "was given " + std::to_string(texts.size()) + " times; once is enough");
  }
  const std::string& text = texts.front();
  if (kind_ == Kind::kNumber) {
    if (const auto number = NumberOf(text)) return Accept(*number);
  } else if (kind_ == Kind::kSwitch) {
    if (const auto on = SwitchOf(text)) return Accept(*on);
  } else {
    return Accept(text);
  }
  return Fail(ErrorKind::kInvalid, Expectation() + ", got " + Quoted(Shown(text)));
}

Status Setting::CheckText(const std::string& text) const {
  const bool fits = text.size() >= range_.minimum && text.size() <= range_.maximum;
  if (!fits) {
    return Fail(ErrorKind::kInvalid, Expectation() + ", got " + std::to_string(text.size()) + " bytes");
  }
  if (!IsUtf8(text) || text.find('\0') != std::string::npos) {
    return Fail(ErrorKind::kInvalid, "must be UTF-8 text");
  }
  if (check_) return check_(text);
  return {};
}

Result<Value> Setting::Accept(Value value) const {
  if (kind_ == Kind::kList && std::holds_alternative<std::string>(value)) {
    value = TextList{std::get<std::string>(value)};
  }
  const auto wrong = [&] {
    return Fail(ErrorKind::kInvalid, Expectation() + ", got " + Shown(TomlText(value)));
  };
  switch (kind_) {
    case Kind::kNumber: {
      const auto* number = std::get_if<std::uint64_t>(&value);
      if (number == nullptr || *number < range_.minimum || *number > range_.maximum) return wrong();
      break;
    }
    case Kind::kSwitch:
      if (!std::holds_alternative<bool>(value)) return wrong();
      break;
    case Kind::kChoice: {
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr || std::find(choices_.begin(), choices_.end(), *text) == choices_.end())
        return wrong();
      break;
    }
    case Kind::kText: {
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr) return wrong();
      if (auto fits = CheckText(*text); !fits) return Fail(fits.error());
      break;
    }
    case Kind::kList: {
      const auto* list = std::get_if<TextList>(&value);
      if (list == nullptr) return wrong();
      if (needed_ && list->empty()) return Fail(ErrorKind::kInvalid, "must name at least one");
      for (const std::string& text : *list) {
        if (auto fits = CheckText(text); !fits) return Fail(fits.error());
      }
      break;
    }
    case Kind::kFiles: {
      const auto* list = std::get_if<TextList>(&value);
      if (list == nullptr) return wrong();
      for (const std::string& text : *list) {
        if (auto fits = CheckText(text); !fits) return Fail(fits.error());
        const std::size_t equals = text.find('=');
        if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
          return Fail(ErrorKind::kInvalid, Expectation() + ", got " + Quoted(Shown(text)));
        }
      }
      break;
    }
  }
  return value;
}

void Setting::Set(const Value& value, Source source) {
  set_(value);
  source_ = std::move(source);
}

std::string TomlText(const Value& value) {
  if (const auto* on = std::get_if<bool>(&value)) return *on ? "true" : "false";
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return Quoted(*text);
  std::string list = "[";
  for (const std::string& text : std::get<TextList>(value)) {
    if (list.size() > 1) list += ", ";
    list += Quoted(text);
  }
  return list + "]";
}

std::string Shown(std::string_view text) {
  std::string shown(CutUtf8(text, kShownBytes));
  // A terminal is not to be driven by what a file holds.
  shown = IsUtf8(shown) ? WithoutControls(std::move(shown)) : PrintableAscii(std::move(shown));
  return shown.size() < text.size() ? shown + "..." : shown;
}

}  // namespace skerry::config
