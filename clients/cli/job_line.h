// One line of a jobs file: JSON in, a job or that line's VALIDATION out (DESIGN section 9).
//
//   JobLineParser parser({.tenant = TenantId("t")});
//   auto parsed = parser.Parse(line, 12);
//
// `input` passes through as its own raw text. Every fault names the line and the field.
//
// Threads: one per parser (it keeps buffers). Errors: none of ours; a bad line is a LineFault.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "clients/cpp/client_types.h"

namespace skerry::cli {

/// What a job has whose line says nothing.
struct JobDefaults {
  TenantId tenant{"default"};
  UserId user;
};

/// The line's result without a run.
struct LineFault {
  std::string id;           ///< the job's, or the line number where it has none that can be read
  bool has_own_id = false;  ///< false: the number only labels the result; a job may still have it as its id
  JobError error;
};

class JobLineParser {
 public:
  explicit JobLineParser(JobDefaults defaults);
  ~JobLineParser();

  /// `number`: from 1.
  std::variant<JobRequest, LineFault> Parse(std::string_view line, std::uint64_t number);

 private:
  struct Buffers;
  const JobDefaults defaults_;
  std::unique_ptr<Buffers> buffers_;
};

/// "line 12: <what>" as the VALIDATION of that line; `limit` where a limit is at fault.
JobError LineError(std::uint64_t number, const std::string& what, std::string limit = {});

}  // namespace skerry::cli
