#include "tests/support/job.h"

namespace skerry::testing {

Job::Job(std::string id, std::string code) : id_(std::move(id)) {
  fields_["id"] = id_;
  fields_["code"] = std::move(code);
}

Job& Job::Set(const std::string& field, Json value) {
  fields_[field] = std::move(value);
  return *this;
}

Job Job::As(const std::string& id) const {
  Job other = *this;
  other.id_ = id;
  other.fields_["id"] = id;
  return other;
}

Job& Job::Limit(const std::string& name, std::uint64_t value) {
  fields_["limits"][name] = value;
  return *this;
}

Json JobResult::Field(const std::string& name) const {
  return json_.is_object() && json_.contains(name) ? json_.at(name) : Json();
}

Json JobResult::Error(const std::string& name) const {
  const Json error = Field("error");
  return error.is_object() && error.contains(name) ? error.at(name) : Json();
}

std::string JobResult::code() const {
  const Json code = Error("code");
  return code.is_string() ? code.get<std::string>() : "";
}

std::string JobResult::message() const {
  const Json message = Error("message");
  return message.is_string() ? message.get<std::string>() : "";
}

double JobResult::Usage(const std::string& name) const {
  const Json usage = Field("usage");
  if (usage.is_object() && usage.contains(name) && usage.at(name).is_number())
    return usage.at(name).get<double>();
  ADD_FAILURE() << "usage has no number '" << name << "': " << Shown(*this);
  return -1;
}

std::vector<Json> JobResult::Events(std::string_view type) const {
  std::vector<Json> found;
  for (const auto& event : Field("events")) {
    if (type.empty() || event.value("type", "") == type) found.push_back(event);
  }
  return found;
}

std::vector<std::string> JobResult::ConsoleTexts(std::string_view level) const {
  std::vector<std::string> texts;
  for (const auto& event : Events("console")) {
    if (level.empty() || event.value("level", "") == level) texts.push_back(event.value("text", "(no text)"));
  }
  return texts;
}

std::string Shown(const JobResult& result) {
  constexpr std::size_t kEnough = 1500;
  const std::string& line = result.line();
  if (line.size() <= kEnough) return line.empty() ? "(no result line)" : line;
  return line.substr(0, kEnough / 2) + " ... " + line.substr(line.size() - kEnough / 2);
}

::testing::AssertionResult IsOk(const JobResult& result) {
  if (result.ok() && result.Field("error").is_null()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "expected ok, got " << Shown(result);
}

::testing::AssertionResult IsOk(const JobResult& result, const Json& value) {
  if (auto ok = IsOk(result); !ok) return ok;
  if (SameValue(result.value(), value)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "expected the value " << value.dump() << ", got " << Shown(result);
}

::testing::AssertionResult IsError(const JobResult& result, std::string_view code, std::string_view limit) {
  const Json want = limit.empty() ? Json() : Json(std::string(limit));
  if (result.Field("outcome") == "error" && result.code() == code && result.Error("limit") == want) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "expected " << code << " with limit " << want.dump() << ", got " << Shown(result);
}

}  // namespace skerry::testing
