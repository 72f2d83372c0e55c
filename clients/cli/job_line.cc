#include "clients/cli/job_line.h"

#include <simdjson.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "clients/cli/json_text.h"
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
  if (!std::isfinite(number) || std::fabs(number) > kLargest)
    return Wrong(field, "is out of range: " + raw.substr(0, 40));
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
  if (!LimitByName(name)) return Fault{"unknown limit limits." + name.substr(0, 64), name.substr(0, 64)};
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
    return Fault{"limits." + name + " must be at most " + std::to_string(spec.hard_maximum), name};
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

MaybeFault Field(std::string_view name, ondemand::value& value, JobRequest& job) {
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
  return Fault{"unknown field " + std::string(name.substr(0, 64)), {}};
}

}  // namespace

JobError LineError(std::uint64_t number, const std::string& what, std::string limit) {
  return MakeError(Code::kValidation, "line " + std::to_string(number) + ": " + what, std::move(limit));
}

struct JobLineParser::Buffers {
  ondemand::parser parser;
  std::string padded;

  /// Every field into `job`; the first fault, but the id even when it stands behind it.
  MaybeFault Read(std::string_view line, JobRequest& job);
};

MaybeFault JobLineParser::Buffers::Read(std::string_view line, JobRequest& job) {
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
  if (!first && std::find(seen.begin(), seen.end(), "code") == seen.end())
    first = Wrong("code", "is missing");
  if (const auto fault = FaultInReproducibility(job.spec); fault && !first) first = Fault{*fault, {}};
  return first;
}

JobLineParser::JobLineParser(JobDefaults defaults)
    : defaults_(std::move(defaults)), buffers_(std::make_unique<Buffers>()) {}
JobLineParser::~JobLineParser() = default;

std::variant<JobRequest, LineFault> JobLineParser::Parse(std::string_view line, std::uint64_t number) {
  const std::string line_id = std::to_string(number);
  // simdjson's on-demand reader checks only what it visits: the whole line is checked first.
  if (!IsJson(line)) {
    const bool text = simdjson::validate_utf8(line.data(), line.size());
    return LineFault{line_id, false, LineError(number, text ? "not valid JSON" : "not valid UTF-8")};
  }
  JobRequest job;
  job.spec.id = JobId(line_id);
  job.spec.tenant = defaults_.tenant;
  job.spec.user = defaults_.user;
  if (auto fault = buffers_->Read(line, job)) {
    return LineFault{job.spec.id.str(), job.spec.id.str() != line_id,
                     LineError(number, fault->what, std::move(fault->limit))};
  }
  return job;
}

}  // namespace skerry::cli
