#include "clients/cli/job_line.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "clients/cli/job_line_names.h"
#include "clients/cpp/spec_faults.h"
#include "common/limits.h"
#include "common/text_check.h"

namespace skerry::cli {
namespace {

namespace ondemand = simdjson::ondemand;

struct Fault {
  std::string what;
  std::string limit;
};
using MaybeFault = std::optional<Fault>;

MaybeFault Wrong(std::string_view field, std::string_view what) {
  return Fault{std::string(field) + " " + std::string(what), {}};
}

std::string_view Raw(ondemand::value& value) {
  std::string_view raw;
  if (simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) return {};
  const std::size_t end = raw.find_last_not_of(" \t\r\n");
  return raw.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

MaybeFault Text(ondemand::value& value, std::string_view field, std::string& text) {
  ondemand::json_type type;
  std::string_view view;
  if (value.type().get(type) != simdjson::SUCCESS || type != ondemand::json_type::string) {
    return Wrong(field, "must be a string");
  }
  if (value.get_string().get(view) != simdjson::SUCCESS) {
    return Wrong(field, "has an escape that is not Unicode text (a lone surrogate?)");
  }
  text = view;
  return std::nullopt;
}

template <class Id>
MaybeFault Identifier(ondemand::value& value, std::string_view field, Id& id) {
  std::string text;
  if (auto fault = Text(value, field, text)) return fault;
  if (text.empty() || text.size() > kMaxIdBytes) return Wrong(field, "must be 1 to 256 bytes");
  id = Id(std::move(text));
  return std::nullopt;
}

/// A whole number as JSON may write it: 1000, 1000.0 and 1e3 are the same.
MaybeFault Whole(ondemand::value& value, std::string_view field, std::int64_t minimum, double& number) {
  constexpr double kLargest = 9007199254740991.0;  // 2^53 - 1: past it JSON numbers are not exact
  ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS || type != ondemand::json_type::number) {
    return Wrong(field, "must be a whole number");
  }
  const std::string raw(Raw(value));
  // Not simdjson's own parser: it refuses numbers past its range, which here deserve the same message as any
  // other.
  number = std::strtod(raw.c_str(), nullptr);
  if (!std::isfinite(number) || std::fabs(number) > kLargest) {
    return Wrong(field, "is out of range: " + raw.substr(0, 40) + "; numbers from " +
                            std::to_string(minimum) + " to 9007199254740991 can be read");
  }
  if (number != std::floor(number)) return Wrong(field, "must be a whole number, got " + raw.substr(0, 40));
  if (number < static_cast<double>(minimum)) {
    return Wrong(field, "must be at least " + std::to_string(minimum) + ", got " + raw.substr(0, 40));
  }
  return std::nullopt;
}

template <class Enum>
MaybeFault Choice(ondemand::value& value, std::string_view field,
                  std::optional<Enum> (*by_name)(std::string_view), std::string_view choices, Enum& chosen) {
  std::string text;
  if (auto fault = Text(value, field, text)) return fault;
  const auto found = by_name(text);
  if (!found) return Wrong(field, "must be " + std::string(choices));
  chosen = *found;
  return std::nullopt;
}

/// "real", "frozen", or the instant of a frozen clock in ms since the epoch.
MaybeFault Clock(ondemand::value& value, std::optional<std::uint64_t>& clock_ms) {
  ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS) return Wrong("clock", "cannot be read");
  if (type == ondemand::json_type::number) {
    double number = 0;
    if (auto fault = Whole(value, "clock", 0, number)) return fault;
    clock_ms = static_cast<std::uint64_t>(number);
    return std::nullopt;
  }
  std::string name;
  if (type != ondemand::json_type::string || Text(value, "clock", name) || !ClockByName(name, clock_ms)) {
    return Wrong("clock", "must be real, frozen, or whole ms since the epoch");
  }
  return std::nullopt;
}

MaybeFault OneLimit(ondemand::field& field, RequestedLimits& limits) {
  std::string_view key;
  if (field.unescaped_key().get(key) != simdjson::SUCCESS)
    return Wrong("limits", "has a name that is not text");
  const std::string name(key);
  ondemand::value value = field.value();
  if (!LimitByName(name)) return Fault{UnknownLimit(name), name.substr(0, 64)};
  for (const auto& [known, number] : limits) {
    if (known == name) return Fault{"limits." + name + " is given twice", name};
  }
  double number = 0;
  const LimitSpec& spec = SpecOf(*LimitByName(name));
  if (auto fault = Whole(value, "limits." + name, static_cast<std::int64_t>(spec.minimum), number)) {
    return Fault{fault->what, name};
  }
  // A pool's own ceiling is its broker's to say; what none could allow is known without asking one.
  if (number > static_cast<double>(spec.hard_maximum)) {
    return Fault{"limits." + name + " must be at most " + std::to_string(spec.hard_maximum) +
                     ", whatever a pool allows (" + std::to_string(spec.default_ceiling) +
                     " where nobody has set its ceiling)",
                 name};
  }
  limits.emplace_back(name, static_cast<std::uint64_t>(number));
  return std::nullopt;
}

MaybeFault AllLimits(ondemand::value& value, RequestedLimits& limits) {
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return Wrong("limits", "must be an object");
  for (auto result : object) {
    ondemand::field field;
    if (std::move(result).get(field) != simdjson::SUCCESS) return Wrong("limits", "cannot be read");
    if (auto fault = OneLimit(field, limits)) return fault;
  }
  return std::nullopt;
}

MaybeFault Libraries(ondemand::value& value, std::vector<std::string>& libraries) {
  ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS)
    return Wrong("libraries", "must be an array of names");
  for (auto result : array) {
    ondemand::value entry;
    std::string name;
    if (std::move(result).get(entry) != simdjson::SUCCESS) return Wrong("libraries", "cannot be read");
    if (auto fault = Text(entry, "libraries", name)) return Wrong("libraries", "must be an array of names");
    libraries.push_back(std::move(name));
    if (libraries.size() > kMaxLibraries) break;  // said below, with other faults of theirs
  }
  if (auto fault = client::FaultInLibraries(libraries)) return Fault{std::move(*fault), {}};
  return std::nullopt;
}

MaybeFault Cases(ondemand::value& value, std::vector<std::string>& cases) {
  ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return Wrong("cases", "must be an array of inputs");
  for (auto result : array) {
    ondemand::value entry;
    if (std::move(result).get(entry) != simdjson::SUCCESS) return Wrong("cases", "cannot be read");
    if (cases.size() == kMaxCases) return Wrong("cases", "must be at most " + std::to_string(kMaxCases));
    cases.emplace_back(Raw(entry));
  }
  if (cases.empty()) return Wrong("cases", "must be at least 1");
  return std::nullopt;
}

std::optional<std::uint8_t> HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::uint8_t>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<std::uint8_t>(digit - 'A' + 10);
  return std::nullopt;
}

/// 32 bytes as 64 digits. False: it is not.
bool Digest(std::string_view digits, std::string& bytes) {
  if (digits.size() != 64) return false;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    const auto high = HexDigit(digits[at]);
    const auto low = HexDigit(digits[at + 1]);
    if (!high || !low) return false;
    bytes += static_cast<char>(*high * 16 + *low);
  }
  return true;
}

/// true, false, or {"hash": "..."}.
MaybeFault ProgramField(ondemand::value& value, JobLine& line) {
  constexpr std::string_view kMust = "must be true, false, or {\"hash\": 64 hexadecimal digits}";
  ondemand::json_type type;
  ondemand::object object;
  if (value.type().get(type) != simdjson::SUCCESS) return Wrong("program", kMust);
  if (type == ondemand::json_type::boolean) {
    if (value.get_bool().get(line.job.spec.program) != simdjson::SUCCESS) return Wrong("program", kMust);
    return std::nullopt;
  }
  if (type != ondemand::json_type::object || value.get_object().get(object) != simdjson::SUCCESS)
    return Wrong("program", kMust);
  for (auto result : object) {
    ondemand::field field;
    std::string_view key;
    std::string_view digits;
    if (std::move(result).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS || key != "hash" || !line.program_hash.empty() ||
        field.value().get_string().get(digits) != simdjson::SUCCESS || !Digest(digits, line.program_hash)) {
      return Wrong("program", kMust);
    }
  }
  if (line.program_hash.empty()) return Wrong("program", kMust);
  line.job.spec.program = true;
  return std::nullopt;
}

/// {"id": "...", "maxExecutions": N}, the number optional.
MaybeFault Turn(ondemand::value& value, JobSpec& spec) {
  constexpr std::string_view kMust = "must be {\"id\": text, \"maxExecutions\": whole number}";
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return Wrong("turn", kMust);
  bool counted = false;
  for (auto result : object) {
    ondemand::field field;
    std::string_view key;
    if (std::move(result).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS) {
      return Wrong("turn", kMust);
    }
    const std::string name(key);
    ondemand::value entry = field.value();
    MaybeFault fault = Wrong("turn", kMust);
    if (name == "id" && spec.turn.empty()) {
      fault = Identifier(entry, "turn.id", spec.turn);
    } else if (name == "maxExecutions" && !std::exchange(counted, true)) {
      double number = 0;
      fault = Whole(entry, "turn.maxExecutions", 1, number);
      spec.turn_executions = static_cast<std::uint64_t>(number);
    }
    if (fault) return fault;
  }
  if (spec.turn.empty()) return Wrong("turn", kMust);
  return std::nullopt;
}

std::optional<StopOn> StopOnByName(std::string_view name) {
  if (name == "never") return StopOn::kNever;
  if (name == "firstFailure") return StopOn::kFirstFailure;
  return std::nullopt;
}

/// Of jobs that share something: `known` becomes false for any other field.
MaybeFault SharingField(std::string_view name, ondemand::value& value, JobLine& line, bool& known) {
  JobSpec& spec = line.job.spec;
  if (name == "libraries") return Libraries(value, spec.libraries);
  if (name == "program") return ProgramField(value, line);
  if (name == "cases") return Cases(value, line.cases);
  if (name == "stopOn") return Choice(value, name, StopOnByName, "never or firstFailure", line.stop_on);
  if (name == "reuse") return Choice(value, name, ReuseByName, "none or context", spec.reuse);
  if (name == "encoding") {
    if (auto fault = Choice(value, name, EncodingByName, "json", spec.encoding)) return fault;
    if (spec.encoding == Encoding::kJson) return std::nullopt;
    return Wrong(name,
                 "must be json: a line of a file is JSON; other encodings are for programs that use the "
                 "client library");
  }
  known = false;
  return std::nullopt;
}

MaybeFault Field(std::string_view name, ondemand::value& value, JobLine& line) {
  JobRequest& job = line.job;
  JobSpec& spec = job.spec;
  double number = 0;
  MaybeFault fault;
  if (name == "id") return Identifier(value, name, spec.id);
  if (name == "code") return Text(value, name, job.code);
  if (name == "input") return job.input = Raw(value), std::nullopt;
  if (name == "mode") return Choice(value, name, ModeByName, "function, script or module", spec.mode);
  if (name == "limits") return AllLimits(value, spec.limits);
  if (name == "tenant") return Identifier(value, name, spec.tenant);
  if (name == "user") return Identifier(value, name, spec.user);
  if (name == "retry") return Choice(value, name, RetryByName, "safe, never or always", spec.retry);
  if (name == "admission") return Choice(value, name, AdmissionByName, "queue or failFast", spec.admission);
  if (name == "priority") {
    if ((fault = Whole(value, name, -100, number))) return fault;
    if (number > 100) return Wrong(name, "must be at most 100");
    spec.priority = static_cast<std::int32_t>(number);
    return std::nullopt;
  }
  if (name == "turn") return Turn(value, spec);
  if (name == "onDisconnect")
    return Choice(value, name, OnDisconnectByName, "keep or cancel", spec.on_disconnect);
  if (name == "deadlineMs") {
    if ((fault = Whole(value, name, 1, number))) return fault;
    spec.deadline_ms = static_cast<std::uint64_t>(number);
    return std::nullopt;
  }
  if (name == "wasm") {
    if (value.get_bool().get(spec.wasm) != simdjson::SUCCESS) return Wrong(name, "must be true or false");
    return std::nullopt;
  }
  if (name == "seed") {
    if ((fault = Whole(value, name, 0, number))) return fault;
    spec.seed = static_cast<std::uint64_t>(number);
    return std::nullopt;
  }
  if (name == "clock") return Clock(value, spec.clock_ms);
  if (name == "receipt") {
    if (value.get_bool().get(spec.receipt) != simdjson::SUCCESS) return Wrong(name, "must be true or false");
    return std::nullopt;
  }
  bool known = true;
  if ((fault = SharingField(name, value, line, known)) || known) return fault;
  return Fault{UnknownField(name), {}};
}

/// What fields forbid or need each other.
MaybeFault Together(const std::vector<std::string>& seen, JobLine& line) {
  const auto has = [&](std::string_view name) {
    return std::find(seen.begin(), seen.end(), name) != seen.end();
  };
  if (!has("code") && line.program_hash.empty()) return Wrong("code", "is missing");
  if (has("code") && !line.program_hash.empty())
    return Wrong("program.hash", "stands in place of code: leave one of them out");
  if (has("cases") && has("input")) return Wrong("cases", "stand in place of input: leave one of them out");
  if (has("stopOn") && !has("cases")) return Wrong("stopOn", "needs cases");
  if (has("cases") && !has("program")) line.job.spec.program = true;
  if (const auto fault = FaultInReproducibility(line.job.spec)) return Fault{*fault, {}};
  return std::nullopt;
}

}  // namespace

JobError LineError(std::uint64_t number, const std::string& what, std::string limit) {
  return MakeError(Code::kValidation, "line " + std::to_string(number) + ": " + what, std::move(limit));
}

struct JobLineParser::Buffers {
  ondemand::parser parser;
  std::string padded;

  /// Every field into `job`; the first fault, but the id even when it stands behind it.
  MaybeFault Read(std::string_view line, JobLine& job);
};

MaybeFault JobLineParser::Buffers::Read(std::string_view line, JobLine& job) {
  padded.reserve(line.size() + simdjson::SIMDJSON_PADDING);
  padded.assign(line);
  ondemand::document document;
  ondemand::object object;
  if (parser.iterate(simdjson::padded_string_view(padded.data(), padded.size(), padded.capacity()))
              .get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return Fault{"not a JSON object", {}};
  }
  MaybeFault first;
  std::vector<std::string> seen;
  for (auto result : object) {
    ondemand::field field;
    std::string_view key;
    if (std::move(result).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS) {
      return Fault{"a field's name cannot be read", {}};
    }
    const std::string name(key);
    ondemand::value value = field.value();
    MaybeFault fault;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      fault = Wrong(name.substr(0, 64), "is given twice");
    } else if (!first || name == "id") {
      fault = Field(name, value, job);
    }
    if (fault && !first) first = std::move(fault);
    seen.push_back(name);
  }
  return first ? first : Together(seen, job);
}

JobLineParser::JobLineParser(JobDefaults defaults)
    : defaults_(std::move(defaults)), buffers_(std::make_unique<Buffers>()) {}
JobLineParser::~JobLineParser() = default;

std::variant<JobLine, LineFault> JobLineParser::Parse(std::string_view line, std::uint64_t number) {
  const std::string line_id = std::to_string(number);
  // simdjson's on-demand reader checks only what it visits: the whole line is checked first.
  if (!IsJson(line)) {
    const bool text = simdjson::validate_utf8(line.data(), line.size());
    return LineFault{
        line_id, false,
        LineError(number, text ? "not valid JSON: " + JsonFaultIn(line) : std::string("not valid UTF-8"))};
  }
  JobLine job;
  JobSpec& spec = job.job.spec;
  spec.id = JobId(line_id);
  spec.tenant = defaults_.tenant;
  spec.user = defaults_.user;
  if (auto fault = buffers_->Read(line, job)) {
    return LineFault{spec.id.str(), spec.id.str() != line_id,
                     LineError(number, fault->what, std::move(fault->limit))};
  }
  return job;
}

}  // namespace skerry::cli
