#include "worker/agent/settings.h"

#include <algorithm>

#include "common/brokers/broker_place.h"
#include "common/ids.h"
#include "common/limits.h"

namespace skerry::agent {
namespace {

constexpr LimitSpec kJobMemory = SpecOf(LimitId::kMemoryMb);
// The random part of WorkerOptions::FillDefaults comes behind it, and for other brokers than the first a
// number.
constexpr std::size_t kDeskSuffix = 11;
constexpr std::size_t kLongestName = kMaxIdBytes - 17 - kDeskSuffix;

}  // namespace

void Describe(config::Settings& s, AgentOptions& options) {
  WorkerOptions& worker = options.worker;
  s.List("broker", worker.brokers,
         "where the brokers are, for workers: endpoints, names that stand for all their addresses, file:PATH")
      .Needed()
      .Check(&CheckBrokerPlace)
      .TradeOff("slots are shared by all that answer; each can have jobs only while it has a share");
  s.Duration("resolve_every_ms", worker.resolve_every, {1'000, 3'600'000},
             "how often names of brokers are resolved again, ms");
  s.Text("key", worker.key_file, config::kAnyText,
         "file of this worker's secret key, for a broker at tcp:// (skerry keygen --role worker)")
      .File()
      .DefaultText("none: ipc:// and plain loopback only");
  s.Text("broker_key", worker.broker_key, config::kAnyText,
         "the brokers' public key, where a key is named; of a broker with another, write it behind its place")
      .DefaultText("none");
  s.Number("isolates", worker.isolates, {1, 4096}, "jobs that run at once")
      .DefaultText("2 x cores")
      .TradeOff("more hides waiting for host calls; much more only stretches every job");
  s.Number("spares", worker.spares, {0, 4096}, "isolates forked ahead of need")
      .DefaultText("as isolates, at most 2 x cores")
      .TradeOff("a job that finds one starts some 1 ms sooner; each costs 8 MiB");
  s.Number("cells", worker.cells, {1, 64}, "base cells, at most")
      .DefaultText("a quarter of the cores, one for 4 GiB, at least 1")
      .TradeOff(
          "another is started where forks queue for one, which makes some 5,000 a second; 128 MiB each");
  s.Number("memory_mb", worker.memory_mb, {1, 1u << 26}, "memory for cells, spares and jobs together, MiB")
      .DefaultText("80 % of RAM or cgroup")
      .TradeOff("a job reserves its memoryMb while it runs: too little, and jobs wait for memory");
  s.Number("max_job_memory_mb", worker.max_job_memory_mb, {kJobMemory.minimum, kJobMemory.hard_maximum},
           "largest memoryMb of a job, MiB")
      .TradeOff("cells are started for it; lowered to what memory_mb allows");
  s.Number("kept_cells", worker.kept_cells, {0, 1024}, "cells kept with libraries or an evaluated program")
      .TradeOff("each lets its jobs start without evaluating anything; costs processes; 0: none are kept");
  s.Number("kept_mb", worker.kept_mb, {0, 1u << 26}, "memory for them, a part of memory_mb, MiB")
      .DefaultText("an eighth of memory_mb from 2048 on; else 128 for libraries, 0 without")
      .TradeOff("one holds what it has evaluated and some 4 MiB, libraries 96 while they are");
  s.Number("kept_code_mb", worker.kept_code_mb, {0, 4096},
           "code of kept programs, so that it is sent once, beside memory_mb, MiB");
  s.Choice("jit", worker.jit, {"full", "maglev", "none"}, "V8's compilers")
      .TradeOff("full pays only for jobs of seconds, and is where most V8 exploits live");
  s.Choice("sandbox", worker.sandbox, {"strict", "best-effort", "off"},
           "what must hold jobs in: strict starts no cell whose sandbox has a hole")
      .Guarded()
      .TradeOff("best-effort goes on with what the machine has; off is for looking for faults only");
  s.Text("cell", worker.cell_program, config::kAnyText, "path of skerry-cell")
      .File()
      .Guarded()
      .DefaultText("beside this binary");
  s.Text("id", worker.id, {0, kLongestName}, "name of this worker in logs; a random part is added")
      .DefaultText("worker");
  s.Files("libraries", "--library", worker.libraries,
          "a library (CommonJS) that jobs may name, and its file");
  s.Choice("log_level", options.log_level, {"trace", "debug", "info", "warn", "error", "off"},
           "least severe line that is logged");
  s.Choice("log_format", options.log_format, {"text", "json"}, "how a line is logged, to stderr")
      .TradeOff("json: one object a line with every id as a field, for machines");
}

Status Finish(const config::Settings& settings, AgentOptions& options, unsigned cores, Bytes memory) {
  WorkerOptions& worker = options.worker;
  if (worker.isolates == 0) worker.isolates = std::size_t{2} * cores;
  if (!settings.IsGiven("spares")) worker.spares = std::min(worker.isolates, std::size_t{2} * cores);
  if (worker.id.empty()) worker.id = "worker";
  // What is printed as this worker's name can be given again; the random part is each process's own.
  const std::string name = worker.id;
  worker.FillDefaults(cores, memory);
  Status valid = worker.Validate();
  if (const Status read = worker.ReadLibraries(); !read) {
    const std::string before = valid ? "" : valid.error().message + "\n";
    valid = Fail(ErrorKind::kInvalid, before + read.error().message);
  }
  worker.id = name;
  return valid;
}

}  // namespace skerry::agent
