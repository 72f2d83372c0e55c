#include "clients/cli/doctor/finding.h"

#include <algorithm>

#include "clients/cli/json_text.h"
#include "common/printable.h"

namespace skerry::cli::doctor {
namespace {

const char* NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFailed:
      return "FAIL";
  }
  return "";
}

}  // namespace

std::string LineOf(const Finding& finding) {
  std::string line = NameOf(finding.verdict);
  line.resize(6, ' ');
  line += finding.check + ": " + finding.what + " — " + finding.why;
  if (!finding.advice.empty()) line += "; " + finding.advice;
  return line;
}

std::string JsonOf(const Finding& finding) {
  std::string json = "{\"verdict\":";
  AppendJsonString(json, finding.verdict == Verdict::kFailed ? "fail" : NameOf(finding.verdict));
  const std::pair<const char*, const std::string*> fields[] = {
      {"check", &finding.check}, {"what", &finding.what}, {"why", &finding.why}, {"advice", &finding.advice}};
  for (const auto& [key, text] : fields) {
    json += ",\"" + std::string(key) + "\":";
    AppendJsonString(json, *text);
  }
  return json + "}";
}

int ExitStatusOf(const Findings& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.verdict == Verdict::kFailed; })
             ? 1
             : 0;
}

std::string FirstLine(const std::string& text) {
  // A sandbox that lacks everything takes 900 bytes to say so.
  constexpr std::size_t kLongest = 1'500;
  const std::string line = text.substr(0, text.find('\n'));
  if (line.size() <= kLongest) return WithoutControls(line);
  const std::size_t space = line.rfind(' ', kLongest);
  return WithoutControls(line.substr(0, space == std::string::npos ? kLongest : space)) + " …";
}

}  // namespace skerry::cli::doctor
