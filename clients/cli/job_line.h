// One line of a jobs file: JSON in, a job or that line's VALIDATION out (DESIGN section 9).
//
//   JobLineParser parser({.tenant = TenantId("t")});
//   auto parsed = parser.Parse(line, 12);
//
// `input` and `cases` pass through as their own raw text. Every fault names the line and the field.
//
// Threads: one per parser (it keeps buffers). Errors: none of ours; a bad line is a LineFault.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "clients/cpp/client_types.h"

namespace skerry::cli {

/// What a job has whose line says nothing.
struct JobDefaults {
  TenantId tenant{"default"};
  UserId user;
};

/// What a line asks for.
struct JobLine {
  JobRequest job;
  std::string program_hash;        ///< 32 raw bytes: an earlier line's code is meant; empty: `job.code` is
  std::vector<std::string> cases;  ///< JSON text each, in place of `job.input`; empty: it has none
  StopOn stop_on = StopOn::kNever;
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
  std::variant<JobLine, LineFault> Parse(std::string_view line, std::uint64_t number);

 private:
  struct Buffers;
  const JobDefaults defaults_;
  std::unique_ptr<Buffers> buffers_;
};

/// "line 12: <what>" as the VALIDATION of that line; `limit` where a limit is at fault.
JobError LineError(std::uint64_t number, const std::string& what, std::string limit = {});

}  // namespace skerry::cli
