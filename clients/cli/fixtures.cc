#include "clients/cli/fixtures.h"

#include <simdjson.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "clients/cli/json_text.h"
#include "common/text_check.h"

namespace skerry::cli {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::int64_t kMaxDelayMs = 24ll * 3600 * 1000;

std::string Trimmed(std::string_view raw) {
  const std::size_t end = raw.find_last_not_of(" \t\r\n");
  std::string text;
  AppendOneLine(text, raw.substr(0, end == std::string_view::npos ? 0 : end + 1));
  return text;
}

Status Directive(std::string_view key, ondemand::value& value, HostReply& reply) {
  const auto wrong = [&](std::string_view what) {
    return Fail(ErrorKind::kInvalid, std::string(key) + " " + std::string(what));
  };
  if (key == "$value") {
    std::string_view raw;
    if (simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) return wrong("cannot be read");
    reply.text = Trimmed(raw);
  } else if (key == "$error") {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) return wrong("must be a string");
    reply.kind = HostReply::Kind::kError;
    reply.text = text;
  } else if (key == "$never") {
    bool never = false;
    if (value.get_bool().get(never) != simdjson::SUCCESS || !never) return wrong("must be true");
    reply.kind = HostReply::Kind::kNever;
  } else if (key == "$delayMs") {
    std::int64_t ms = 0;
    if (value.get_int64().get(ms) != simdjson::SUCCESS || ms < 0 || ms > kMaxDelayMs) {
      return wrong("must be a whole number of milliseconds, at most a day");
    }
    reply.delay = Millis(ms);
  } else {
    return wrong("is unknown; known are $value, $delayMs, $error and $never");
  }
  return {};
}

/// An object is directives when its first key begins with $; else it is a value like any other.
bool HoldsDirectives(std::string_view raw) {
  const std::size_t quote = raw.find('"');
  return raw.starts_with('{') && quote != std::string_view::npos && raw.substr(quote + 1).starts_with('$');
}

Status ReadDirectives(const std::string& raw, HostReply& reply) {
  ondemand::parser parser;
  const simdjson::padded_string padded(raw);
  ondemand::document document;
  ondemand::object object;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return Fail(ErrorKind::kInvalid, "cannot be read");
  }
  reply = {HostReply::Kind::kValue, "null", Millis(0)};
  for (auto result : object) {
    ondemand::field field;
    std::string_view key;
    if (std::move(result).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS) {
      return Fail(ErrorKind::kInvalid, "has a name that cannot be read");
    }
    const std::string name(key);
    ondemand::value value = field.value();
    if (auto read = Directive(name, value, reply); !read) return read;
  }
  return {};
}

}  // namespace

Result<Fixtures> Fixtures::Parse(std::string_view json) {
  Fixtures fixtures;
  fixtures.given_ = true;
  ondemand::parser parser;
  const simdjson::padded_string padded(json);
  ondemand::document document;
  ondemand::object object;
  if (!IsJson(json)) return Fail(ErrorKind::kInvalid, "fixtures are not JSON: " + JsonFaultIn(json));
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return Fail(ErrorKind::kInvalid, "fixtures must be one JSON object");
  }
  for (auto result : object) {
    ondemand::field field;
    std::string_view key;
    std::string_view raw;
    if (std::move(result).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS) {
      return Fail(ErrorKind::kInvalid, "fixtures: a method's name cannot be read");
    }
    const std::string method(key);
    if (simdjson::to_json_string(field.value()).get(raw) != simdjson::SUCCESS) {
      return Fail(ErrorKind::kInvalid, "fixtures: '" + method + "' cannot be read");
    }
    HostReply reply{HostReply::Kind::kValue, Trimmed(raw), Millis(0)};
    if (HoldsDirectives(reply.text)) {
      if (auto read = ReadDirectives(std::string(reply.text), reply); !read) {
        return Fail(ErrorKind::kInvalid, "fixtures: '" + method + "': " + read.error().message);
      }
    }
    fixtures.replies_[method] = std::move(reply);
  }
  return fixtures;
}

Result<Fixtures> Fixtures::Load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  const bool folder = std::filesystem::is_directory(path);  // it opens, and only fails when it is read
  if (!file || folder) {
    return Fail(ErrorKind::kInvalid,
                "cannot read fixtures from " + path + ": " + std::strerror(folder ? EISDIR : errno));
  }
  // An empty file, too, is no fixtures.
  text << file.rdbuf();
  auto fixtures = Parse(text.str());
  if (!fixtures) return Fail(ErrorKind::kInvalid, path + ": " + fixtures.error().message);
  return fixtures;
}

HostReply Fixtures::Answer(std::string_view method) const {
  if (auto found = replies_.find(method); found != replies_.end()) return found->second;
  if (auto found = replies_.find("*"); found != replies_.end()) return found->second;
  const std::string name(method.substr(0, 100));
  if (!given_) return {HostReply::Kind::kError, "no host answers '" + name + "': run with --data", Millis(0)};
  return {HostReply::Kind::kError, "no fixture for method '" + name + "'", Millis(0)};
}

}  // namespace skerry::cli
