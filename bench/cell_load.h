// Load on a cell without broker and worker: forks it, gives each fork one job, reads its final, reaps it.
//
// What the worker does besides (deadlines, memory limits, verdicts) is left out: this is the price of a job
// in a process of its own, and nothing else.
//
// Threads: the main thread (see CellProcess). Ownership: owns the cell and its forks. Errors: a job that does
// not end ok ends the measurement.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <string>

#include "bench/sample.h"
#include "bench/workload.h"
#include "common/result.h"
#include "common/units.h"
#include "worker/agent/isolates/isolate_port.h"
#include "worker/cell/cell_process.h"

namespace skerry::bench {

class CellLoad {
 public:
  /// As many jobs at once as `slots`, and as many isolates forked ahead: the worker's own default.
  static Result<std::unique_ptr<CellLoad>> Start(const std::string& binaries, std::size_t slots);
  ~CellLoad();
  CellLoad(const CellLoad&) = delete;
  CellLoad& operator=(const CellLoad&) = delete;

  /// A job is done when its process has been reaped. Jobs that have begun are waited for.
  Result<Sample> Run(const Workload& workload, Millis duration);

 private:
  struct Running {
    Running(cell::IsolateProcess forked, std::size_t max_frame_bytes, TimePoint now)
        : process(std::move(forked)), port(process.socket.get(), max_frame_bytes), started(now) {}
    cell::IsolateProcess process;
    agent::IsolatePort port;
    TimePoint started;
    bool blocked = false;  // the socket took only part of what is to be sent
    bool finished = false;
  };

  CellLoad(std::unique_ptr<cell::CellProcess> cell, std::size_t slots)
      : cell_(std::move(cell)), slots_(slots) {}

  Status AskForForks();
  Status TakeForks();
  void StartJob(const Workload& workload);
  /// Waits until something can be done for a fork or a job, and does it.
  Status Step(const Workload& workload, Sample& sample);
  Status Read(Running& job, const Workload& workload);
  static void Flush(Running& job);

  std::unique_ptr<cell::CellProcess> cell_;
  const std::size_t slots_;
  std::size_t asked_ = 0;
  std::deque<cell::IsolateProcess> spares_;
  std::list<Running> running_;
};

}  // namespace skerry::bench
