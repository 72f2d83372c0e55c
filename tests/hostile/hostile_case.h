// One hostile input and its acceptable ends, as a line of a .jsonl file has them.
//
//   {"id":…,"code":…,"limits":{…},"accept":[{"outcome":"error","code":["OOM"]},{"outcome":"ok","value":1}]}
//
// and, in our own files: `mode`, `wasm`, `input`, `tenants` (how many tenants run it, one after the other),
// `usage` (fields that must have this value), `events` (how many of a type), `consoleText` (the only console
// event's text), `wallMsBelow`, `message` (a part of the error's message). `for` adds such demands to the
// shared case of that id.
//
// Threads: plain data. Errors: a line that is no case throws.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/job.h"

namespace skerry::testing {

struct HostileCase {
  std::string id;
  Json fields;

  /// With more time than it asks for where a TIMEOUT is no accepted end.
  Job ToJob(const std::string& tenant) const;
  /// Whether a TIMEOUT is an accepted end.
  bool may_time_out() const;
  int tenants() const;
  /// The longest that an accepted end may take, in milliseconds.
  double longest_ms() const;
};

/// What GoogleTest prints for a case.
void PrintTo(const HostileCase& hostile, std::ostream* out);

/// Success when the result is one of the case's accepted ends and meets its other demands.
::testing::AssertionResult Accepts(const HostileCase& hostile, const JobResult& result);

std::vector<HostileCase> ReadCases(const std::filesystem::path& file);
/// The shared ones, where they are there, with their demands, and our own of this folder; SKERRY_CASES=text
/// leaves those whose id contains the text.
std::vector<HostileCase> AllHostileCases(const std::filesystem::path& folder);
/// Merges each line's demands into the case it names with `for`; a line that names none of `cases` throws.
void AddDemands(const std::filesystem::path& file, std::vector<HostileCase>& cases);

}  // namespace skerry::testing
