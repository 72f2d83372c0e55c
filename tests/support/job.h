// A job as a test writes it, and its result as a test reads it.
//
//   Job("a", "return input.x").Set("input", {{"x", 2}}).Limit("timeoutMs", 500)
//   EXPECT_TRUE(IsOk(report.At("a"), 2));
//   EXPECT_TRUE(IsError(report.At("b"), "TIMEOUT", "timeoutMs"));
//
// Threads: plain data.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/json.h"

namespace skerry::testing {

class Job {
 public:
  Job(std::string id, std::string code);
  Job& Set(const std::string& field, Json value);
  Job& Limit(const std::string& name, std::uint64_t value);
  Job& Tenant(const std::string& name) { return Set("tenant", name); }
  Job& Mode(const std::string& name) { return Set("mode", name); }

  /// The same job under another id.
  Job As(const std::string& id) const;
  const std::string& id() const { return id_; }
  std::string Line() const { return fields_.dump(); }

 private:
  std::string id_;
  Json fields_;
};

class JobResult {
 public:
  JobResult() = default;
  JobResult(Json json, std::string line) : json_(std::move(json)), line_(std::move(line)) {}

  bool ok() const { return Field("outcome") == "ok"; }
  Json Field(const std::string& name) const;
  Json value() const { return Field("value"); }
  /// A field of `error`; null where there is none.
  Json Error(const std::string& name) const;
  std::string code() const;
  std::string message() const;
  double Usage(const std::string& name) const;
  /// The events of a type ("console" or "status") or, empty, all of them.
  std::vector<Json> Events(std::string_view type = {}) const;
  /// The texts of console events of a level; empty: of all levels.
  std::vector<std::string> ConsoleTexts(std::string_view level = {}) const;
  /// The result line as `skerry` wrote it, without its end.
  const std::string& line() const { return line_; }

 private:
  Json json_;
  std::string line_;
};

/// The result line, cut to a length that a test's output can bear.
std::string Shown(const JobResult& result);

::testing::AssertionResult IsOk(const JobResult& result, const Json& value);
::testing::AssertionResult IsOk(const JobResult& result);
/// `limit` empty: the error's `limit` must be null.
::testing::AssertionResult IsError(const JobResult& result, std::string_view code,
                                   std::string_view limit = {});

}  // namespace skerry::testing
