#include "common/config/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "common/bounded_read.h"
#include "common/fd.h"

namespace skerry::config {
namespace {

tl::unexpected<Error> Unreadable(const std::string& path, const std::string& why) {
  return Fail(ErrorKind::kInvalid, path + ": " + why);
}

std::string TextOf(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  return Shown(text.str());
}

/// What a setting can hold; anything else as its text.
std::variant<Value, OtherValue, TableValue> ValueOf(const toml::node& node) {
  if (const auto* on = node.as_boolean()) return Value(on->get());
  if (const auto* text = node.as_string()) return Value(text->get());
  if (const auto* number = node.as_integer(); number != nullptr && number->get() >= 0) {
    return Value(static_cast<std::uint64_t>(number->get()));
  }
  if (const auto* array = node.as_array()) {
    TextList list;
    for (const toml::node& item : *array) {
      const auto* text = item.as_string();
      if (text == nullptr) return OtherValue{TextOf(node)};
      list.push_back(text->get());
    }
    return Value(std::move(list));
  }
  return OtherValue{TextOf(node)};
}

// Bounded: toml++ refuses deeper nesting than 256.
void Flatten(const toml::table& table, const std::string& prefix, std::vector<Entry>& entries) {
  for (const auto& [key, node] : table) {
    const std::string path = prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
    if (const auto* inner = node.as_table()) {
      entries.push_back({path, key.source().begin.line, TableValue{}});
      Flatten(*inner, path, entries);
    } else {
      entries.push_back({path, key.source().begin.line, ValueOf(node)});
    }
  }
}

}  // namespace

Status CheckTrusted(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return {};  // reading it says more
  const bool ours = about.st_uid == geteuid() || about.st_uid == 0;
  if (ours && (about.st_mode & S_IWOTH) == 0) return {};
  const std::string why = ours ? "anyone may write it" : "it belongs to user " + std::to_string(about.st_uid);
  return Fail(ErrorKind::kInvalid, path + ": not read, since " + why +
                                       " and a configuration names programs to run; say --config " + path +
                                       " to read it, or --config '' to read none");
}

Result<ConfigFile> ReadConfigFile(const std::string& path) {
  // Not blocking: a FIFO without a writer must not hold up the start.
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return Unreadable(path, std::string("cannot be read: ") + std::strerror(errno));
  struct stat about {};
  if (fstat(fd.get(), &about) != 0) return Unreadable(path, std::strerror(errno));
  if (S_ISDIR(about.st_mode)) return Unreadable(path, "is a folder, not a file");
  if (!S_ISREG(about.st_mode)) return Unreadable(path, "is not a regular file");
  const auto text = ReadPast(fd.get(), kMaxFileBytes);
  if (!text) return Unreadable(path, "cannot be read: " + text.error().message);
  if (text->size() > kMaxFileBytes) {
    return Unreadable(path, "is larger than 1 MiB: no configuration is; is it the right file?");
  }
  return ParseConfig(*text, path);
}

namespace {

/// Debian's toml++ bounds nested values, but not dotted keys: a.a.a... overruns its stack. The line of the
/// first that is deeper than any configuration; 0: none.
std::size_t LineOfDeepKey(std::string_view text) {
  constexpr int kDeepest = 256;
  std::size_t line = 1;
  int dots = 0;
  char quote = 0;
  bool escaped = false;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      dots = 0;
      quote = 0;
      escaped = false;
    } else if (quote != 0) {
      // Only the double quotes know escapes.
      if (c == quote && !escaped) quote = 0;
      escaped = c == '\\' && quote == '"' && !escaped;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '.' && ++dots > kDeepest) {
      return line;
    }
  }
  return 0;
}

}  // namespace

Result<ConfigFile> ParseConfig(std::string_view text, const std::string& name) {
  if (const std::size_t line = LineOfDeepKey(text); line > 0)
    return Fail(ErrorKind::kInvalid,
                name + ":" + std::to_string(line) + ": a key nested deeper than any configuration");
  try {
    const toml::table parsed = toml::parse(text, name);
    ConfigFile file{name, {}};
    Flatten(parsed, "", file.entries);
    // As a reader meets them; a table before what is in it.
    std::stable_sort(file.entries.begin(), file.entries.end(),
                     [](const Entry& a, const Entry& b) { return a.line < b.line; });
    return file;
  } catch (const toml::parse_error& error) {  // Debian's library throws
    const auto& at = error.source().begin;
    return Fail(ErrorKind::kInvalid, name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                                         ": " + Shown(error.description()));
  }
}

}  // namespace skerry::config
