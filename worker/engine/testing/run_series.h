// Runs programs one after another in one fork of a started engine, as an isolate does whose jobs share it
// (`reuse: "context"`).
//
// Threads: one. Errors: a harness failure throws; a fork that died is fewer endings than programs.
#pragma once

#include <string>
#include <vector>

#include "common/outcome.h"
#include "common/units.h"
#include "worker/engine/engine.h"

namespace skerry::engine {

struct SeriesJob {
  SeriesJob(std::string source) : code(std::move(source)) {}  // NOLINT: a list of sources is a series
  SeriesJob(const char* source) : code(source) {}

  std::string code;
  std::string input = {};
  Program program = {};  ///< its `code` and `input` are set from those
};

struct SeriesEnding {
  std::string verdict;  ///< "ok" or a code's name
  std::string value;
  std::string message;              ///< of the error
  std::vector<std::string> events;  ///< their payloads
  std::vector<std::string> calls;   ///< "NUMBER METHOD"; each is answered with "NUMBER"
  std::uint64_t heap_peak_bytes = 0;
  std::uint64_t data_bytes = 0;  ///< what RLIMIT_DATA counts of the process, before the job
  double micros = 0;             ///< Renew before it, and Run
};

/// `data_allowance`: RLIMIT_DATA is this more than what the fork begins with; 0: none is set.
std::vector<SeriesEnding> RunSeries(const std::vector<SeriesJob>& jobs, Bytes data_allowance = Bytes());

}  // namespace skerry::engine
