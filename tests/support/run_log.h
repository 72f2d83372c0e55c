// What really ran, as the workers' debug logs tell it: a line before a job's first byte goes to its isolate,
// one when its last byte has gone, one for each answer that reached it.
//
// The logs are the witness because they survive everybody's SIGKILL: each line is written before, or at once
// after, what it tells of, and nobody has to be asked.
//
// Threads: plain data.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace skerry::testing {

/// One hand-over of a job to an isolate.
struct ObservedRun {
  std::uint32_t attempt = 1;
  pid_t pid = 0;                                 ///< of its isolate; 0: the line does not say
  std::chrono::system_clock::time_point when{};  ///< handed over
  bool started = false;                          ///< its last byte had gone
  bool answered = false;                         ///< a host call of it was answered
  bool open = false;  ///< the log ends, or its worker died, between hand-over and start: it may have run

  bool MayHaveRun() const { return started || open; }
};

/// By job id.
using RunLog = std::map<std::string, std::vector<ObservedRun>>;

/// Adds what one worker's place has logged; a worker's start ends whatever the one before it had open.
void ReadRunLog(const std::string& text, RunLog& log);

std::size_t RunsOf(const RunLog& log, const std::string& id);
std::size_t AnsweredRunsOf(const RunLog& log, const std::string& id);

}  // namespace skerry::testing
