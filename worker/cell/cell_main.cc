// skerry-cell: the template process. Started by skerry-worker; starts V8, warms it, locks itself down, then
// forks one isolate per request until its control socket ends. It never runs a job.
//
//   skerry-cell JIT MAX_MEMORY_MB SANDBOX        with its control socket as descriptor 3

#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "common/wire/codec.h"
#include "worker/cell/msgpack_job.h"
#include "worker/cell/template_process.h"
#include "worker/engine/engine.h"

namespace skerry::cell {
namespace {

struct CommandLine {
  engine::EngineOptions engine;
  SandboxMode sandbox = SandboxMode::kStrict;
};

std::optional<CommandLine> ParseCommandLine(int argc, char** argv) {
  if (argc != 4) return std::nullopt;
  CommandLine line;
  line.engine.text = engine::TextPages::kHuge;
  const std::string_view jit = argv[1];
  const std::string_view memory = argv[2];
  if (jit == "full") {
    line.engine.jit = engine::Jit::kFull;
  } else if (jit == "none") {
    line.engine.jit = engine::Jit::kNone;
  } else if (jit != "maglev") {
    return std::nullopt;
  }
  const auto [end, error] =
      std::from_chars(memory.data(), memory.data() + memory.size(), line.engine.max_memory_mb);
  if (error != std::errc() || end != memory.data() + memory.size()) return std::nullopt;
  const auto sandbox = SandboxModeByName(argv[3]);
  if (!sandbox) return std::nullopt;
  line.sandbox = *sandbox;
  return line;
}

// Filled in the template, so that writing it needs no memory.
char out_of_memory_record[512];
std::size_t out_of_memory_record_bytes = 0;

[[noreturn]] void ReportOutOfMemory() {
  WriteAllOrExit(kJobFd, out_of_memory_record, out_of_memory_record_bytes);
  _exit(0);
}

/// False: it does not fit.
bool PrepareOutOfMemoryRecord() {
  Outcome outcome;
  outcome.error = MakeError(Code::kOom, "the program used more memory than memoryMb allows", "memoryMb");
  const std::string bytes = wire::StreamBytes(wire::ToFinal(outcome), {wire::DetailPayload(*outcome.error)});
  if (bytes.size() > sizeof(out_of_memory_record)) return false;
  bytes.copy(out_of_memory_record, bytes.size());
  out_of_memory_record_bytes = bytes.size();
  return true;
}

// Nobody's job is running: the worker sees the end of the process, and that it was not ready.
constexpr int kRecipeTooLarge = 121;
[[noreturn]] void LeaveOutOfMemory() {
  _exit(kRecipeTooLarge);
}

/// What of a job the engine wants to know; without its payloads.
engine::Program ProgramOf(const JobSpec& job) {
  engine::Program program;
  program.mode = job.mode;
  program.seed = job.seed.value_or(0);  // towards an isolate the worker always says one
  program.clock_ms = job.clock_ms;
  program.wasm = job.wasm;
  program.limits = LimitsOf(job);
  return program;
}

std::optional<engine::Unkeepable> KeepProgram(engine::Engine& engine, const CellProgram& cell_program) {
  engine::SetOutOfMemoryHandler(&LeaveOutOfMemory);
  engine::Program program = ProgramOf(cell_program.job);
  program.code = cell_program.code;
  return engine.Keep(program, cell_program.job.seed ? engine::Seeding::kFixed : engine::Seeding::kPerRun);
}

Outcome RunProgram(engine::Engine& engine, const wire::Dispatch& dispatch,
                   const std::vector<std::string>& payloads, IsolatePort& port) {
  engine::SetOutOfMemoryHandler(&ReportOutOfMemory);
  engine::Program program = ProgramOf(dispatch.job);
  program.code = payloads[0];
  program.input = payloads[1];
  if (dispatch.job.encoding == Encoding::kJson) return engine.Run(program, port);
  program.limits.Set(LimitId::kMaxDataBytes, kUnlimited);  // the worker has counted what crosses
  return RunMsgpackJob(program.input, port, [&](std::string_view input, engine::JobPort& over) {
    program.input = input;
    return engine.Run(program, over);
  });
}

// Does glibc's housekeeping once here that every fork would else do for itself, copying the pages of all
// blocks involved: V8's start and the filter's building free hundreds (84 of 190 page faults a job).
void TidyHeap() {
  constexpr std::size_t kLargerThanAnyFreeBlock = 60u << 10;  // and below the engine's threshold for mappings
  malloc_trim(0);                                             // merges them, onto an unsorted list
  // A request that nothing on that list fits has all of it sorted away.
  void* volatile block = std::malloc(kLargerThanAnyFreeBlock);
  std::free(block);
}

int Main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    const std::string_view version = engine::V8Version();
    std::printf("skerry-cell with V8 %.*s\n", static_cast<int>(version.size()), version.data());
    return std::fflush(stdout) == 0 ? 0 : Complain("stdout");
  }
  const auto line = ParseCommandLine(argc, argv);
  if (!line || !StartedByWorker()) {
    Complain(
        "started by skerry-worker, not by hand: skerry-cell full|maglev|none MAX_MEMORY_MB "
        "strict|best-effort|off, control socket on 3");
    return kUsage;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto engine = engine::Engine::Start(line->engine);
  if (!engine) return Complain(engine.error().message);
  if (!PrepareOutOfMemoryRecord()) return Complain("the out-of-memory record has no room");
  TidyHeap();
  (*engine)->Rehearse();
  TemplateOptions options;
  options.isolate.prepare = [&engine = **engine] { engine.Prepare(); };
  options.sandbox = line->sandbox;
  options.machine_code = line->engine.jit == engine::Jit::kNone ? MachineCode::kNone : MachineCode::kMade;
  options.isolate.body = [&engine = **engine](const wire::Dispatch& dispatch,
                                              const std::vector<std::string>& payloads, IsolatePort& port) {
    return RunProgram(engine, dispatch, payloads, port);
  };
  options.recipe.load = [&engine = **engine](const Library& library) {
    return engine.Load({library.name, library.code});
  };
  options.recipe.keep = [&engine = **engine](const CellProgram& program) {
    return KeepProgram(engine, program);
  };
  options.isolate.renew = [&engine = **engine] { return engine.Renew().has_value(); };
  options.v8_version = engine::V8Version();
  const std::string v8_flags = engine::V8Flags(line->engine.jit);
  options.v8_flags = v8_flags;
  options.settle = &TidyHeap;
  return ServeAsTemplate(options);
}

}  // namespace
}  // namespace skerry::cell

// The host calls this in place of its own main (worker/engine/host).
int SkerryMain(int argc, char** argv) {
  return skerry::cell::Main(argc, argv);
}
