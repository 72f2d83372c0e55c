#include "tests/hostile/hostile_case.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "tests/support/places.h"
#include "tests/support/skerry_run.h"

namespace skerry::testing {
namespace {

// Cases that never end any other way are not held up for longer.
constexpr std::uint64_t kLongestMs = 60'000;

::testing::AssertionResult Wrong(const std::string& what, const JobResult& result) {
  return ::testing::AssertionFailure() << what << ", got " << Shown(result);
}

bool IsAcceptedEnd(const Json& end, const JobResult& result) {
  if (end.at("outcome") != result.Field("outcome")) return false;
  if (result.ok()) return !end.contains("value") || SameValue(end.at("value"), result.value());
  const Json& codes = end.at("code");
  return std::find(codes.begin(), codes.end(), Json(result.code())) != codes.end();
}

// What must hold whatever the end: facts of the outcome contract that no program can change.
::testing::AssertionResult IsWellFormed(const JobResult& result) {
  if (result.ok()) return ::testing::AssertionSuccess();
  if (result.Error("started") != true && result.code() != "VALIDATION")
    return Wrong("the job had started", result);
  if (result.Error("fault") == "infrastructure")
    return Wrong("no program is an infrastructure's fault", result);
  // A program may throw an error that says nothing; we may not.
  const bool is_its_own = result.code() == "RUNTIME" || result.code() == "COMPILE";
  if (result.message().empty() && !is_its_own) return Wrong("an error of ours has a message", result);
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult MeetsDemands(const Json& fields, const JobResult& result) {
  const Json usage = fields.value("usage", Json::object());
  for (const auto& [name, value] : usage.items()) {
    if (result.Usage(name) != value.get<double>())
      return Wrong("usage." + name + " must be " + value.dump(), result);
  }
  const Json events = fields.value("events", Json::object());
  for (const auto& [type, count] : events.items()) {
    if (result.Events(type).size() != count.get<std::size_t>()) {
      return Wrong(
          type + " events must be " + count.dump() + ", not " + std::to_string(result.Events(type).size()),
          result);
    }
  }
  if (fields.contains("consoleText") &&
      result.ConsoleTexts() != std::vector<std::string>{fields.at("consoleText")}) {
    return Wrong("the console's one text must be " + fields.at("consoleText").dump(), result);
  }
  if (fields.contains("wallMsBelow") && result.Usage("wallMs") >= fields.at("wallMsBelow").get<double>()) {
    return Wrong("wallMs must be below " + fields.at("wallMsBelow").dump(), result);
  }
  if (fields.contains("message") &&
      result.message().find(fields.at("message").get<std::string>()) == std::string::npos) {
    return Wrong("the message must contain " + fields.at("message").dump(), result);
  }
  return ::testing::AssertionSuccess();
}

Json ParsedLine(const std::string& line, const std::filesystem::path& file) {
  auto json = ParseJson(line);
  if (!json || !json->is_object()) throw std::runtime_error(file.string() + ": not a case: " + line);
  return *json;
}

}  // namespace

Job HostileCase::ToJob(const std::string& tenant) const {
  Job job(id, fields.at("code").get<std::string>());
  job.Tenant(tenant);
  for (const char* name : {"limits", "mode", "wasm", "input"}) {
    if (fields.contains(name)) job.Set(name, fields.at(name));
  }
  // It must not be late merely because the machine is busy: no test of what it comes to.
  if (!may_time_out() && fields.value("limits", Json::object()).contains("timeoutMs"))
    job.Limit("timeoutMs", std::min(static_cast<std::uint64_t>(longest_ms()) * 4, kLongestMs));
  return job;
}

bool HostileCase::may_time_out() const {
  return fields.at("accept").dump().find("TIMEOUT") != std::string::npos;
}

int HostileCase::tenants() const {
  // The shared file says it in words.
  const bool in_words = fields.value("note", "").find("run twice") != std::string::npos;
  return fields.value("tenants", in_words ? 2 : 1);
}

double HostileCase::longest_ms() const {
  return fields.value("limits", Json::object()).value("timeoutMs", 30'000);
}

void PrintTo(const HostileCase& hostile, std::ostream* out) {
  *out << hostile.id << ": " << hostile.fields.at("code").get<std::string>().substr(0, 300);
}

::testing::AssertionResult Accepts(const HostileCase& hostile, const JobResult& result) {
  const Json& ends = hostile.fields.at("accept");
  const bool accepted =
      std::any_of(ends.begin(), ends.end(), [&](const Json& end) { return IsAcceptedEnd(end, result); });
  if (!accepted) return Wrong("accepted are only " + ends.dump(), result);
  if (auto formed = IsWellFormed(result); !formed) return formed;
  return MeetsDemands(hostile.fields, result);
}

std::vector<HostileCase> ReadCases(const std::filesystem::path& file) {
  std::vector<HostileCase> cases;
  for (const auto& line : SplitLines(ReadFile(file))) {
    Json fields = ParsedLine(line, file);
    for (const char* needed : {"id", "code", "accept"}) {
      if (!fields.contains(needed))
        throw std::runtime_error(file.string() + ": a case without " + needed + ": " + line);
    }
    const auto id = fields.at("id").get<std::string>();
    cases.push_back({id, std::move(fields)});
  }
  return cases;
}

std::vector<HostileCase> AllHostileCases(const std::filesystem::path& folder) {
  std::vector<HostileCase> cases;
  if (const auto shared = SharedFile("cases/hostile.jsonl")) {
    cases = ReadCases(*shared);
    AddDemands(folder / "shared_case_demands.jsonl", cases);
  }
  for (auto& own : ReadCases(folder / "own_cases.jsonl")) cases.push_back(std::move(own));
  if (const char* wanted = std::getenv("SKERRY_CASES")) {
    std::erase_if(cases, [wanted](const HostileCase& c) { return c.id.find(wanted) == std::string::npos; });
  }
  return cases;
}

void AddDemands(const std::filesystem::path& file, std::vector<HostileCase>& cases) {
  for (const auto& line : SplitLines(ReadFile(file))) {
    const Json demands = ParsedLine(line, file);
    const auto found = std::find_if(cases.begin(), cases.end(),
                                    [&](const HostileCase& c) { return c.id == demands.at("for"); });
    if (found == cases.end())
      throw std::runtime_error(file.string() + ": no case " + demands.at("for").dump());
    for (const auto& [name, value] : demands.items()) {
      if (name == "alsoAccept") {
        found->fields["accept"].push_back(value);
      } else if (name != "for") {
        found->fields[name] = value;
      }
    }
  }
}

}  // namespace skerry::testing
