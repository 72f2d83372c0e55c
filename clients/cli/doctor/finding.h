// What the doctor says about one thing: a line for people, an object for programs.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace skerry::cli::doctor {

enum class Verdict : std::uint8_t {
  kOk,
  kWarn,    ///< it runs, worse than it could
  kFailed,  ///< jobs cannot run, or not as safely as promised
};

struct Finding {
  Verdict verdict = Verdict::kOk;
  std::string check;   ///< stable, for programs: "kernel"
  std::string what;    ///< what was found
  std::string why;     ///< why it matters
  std::string advice;  ///< what to do; empty where nothing is to be done
};
using Findings = std::vector<Finding>;

inline Finding Good(std::string check, std::string what, std::string why) {
  return {Verdict::kOk, std::move(check), std::move(what), std::move(why), {}};
}
inline Finding Poor(std::string check, std::string what, std::string why, std::string advice) {
  return {Verdict::kWarn, std::move(check), std::move(what), std::move(why), std::move(advice)};
}
inline Finding Bad(std::string check, std::string what, std::string why, std::string advice) {
  return {Verdict::kFailed, std::move(check), std::move(what), std::move(why), std::move(advice)};
}

/// "warn  memory: 400 MiB — why it matters; what to do"
std::string LineOf(const Finding& finding);
/// {"verdict":"warn","check":"memory","what":…,"why":…,"advice":…}
std::string JsonOf(const Finding& finding);
/// 0 where nothing failed, else 1.
int ExitStatusOf(const Findings& findings);

/// The first line of what a program said, made safe for a terminal; past 1,500 bytes it is cut at a word.
std::string FirstLine(const std::string& text);

}  // namespace skerry::cli::doctor
