// skerry-compromised-cell: a cell whose isolates run native code of an attacker's. Built for tests only.
//
//   skerry-compromised-cell JIT MAX_MEMORY_MB SANDBOX      as skerry-cell; started by skerry-worker --cell
//
// Everything but V8 is the real cell's: topology, lock-down, fork, socket. A job's code names a probe
// (probe.h); and so does the code of a program cell, which the cell itself plays.
#include <sys/prctl.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/hostile/compromised/probe.h"
#include "worker/cell/template_process.h"

namespace skerry::compromised {
namespace {

using Json = nlohmann::json;

Target TargetOf(const std::string& input) {
  Target target;
  const Json json = Json::parse(input, nullptr, false);
  if (!json.is_object()) return target;
  target.worker = json.value("worker", 0);
  target.secret = json.value("secret", "");
  return target;
}

/// How the attempt went that the cell itself made, for its isolates to tell.
std::string& EndInCell() {
  static std::string end;
  return end;
}

Outcome RunProbe(const wire::Dispatch&, const std::vector<std::string>& payloads, cell::IsolatePort& port) {
  Outcome outcome;
  for (const Lie& lie : Lies()) {
    if (lie.name == payloads[0]) lie.tell(port, cell::kJobFd);
  }
  outcome.value = "\"unknown probe\"";
  if (payloads[0] == "of-the-cell") outcome.value = Json(EndInCell()).dump();
  if (payloads[0] == "hello") outcome.value = "\"hello\"";
  for (const Attempt& attempt : Attempts()) {
    if (attempt.name == payloads[0]) outcome.value = Json(attempt.make(TargetOf(payloads[1]))).dump();
  }
  return outcome;
}

int Main(int argc, char** argv) {
  if (argc != 4 || !cell::StartedByWorker()) return cell::kUsage;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  cell::TemplateOptions options;
  options.sandbox = cell::SandboxModeByName(argv[3]).value_or(cell::SandboxMode::kStrict);
  options.isolate.body = RunProbe;
  options.recipe.load = [](const cell::Library&) { return Status(); };
  options.recipe.keep = [](const cell::CellProgram& program) -> std::optional<engine::Unkeepable> {
    EndInCell() = PlayInCell(program.code);
    return std::nullopt;
  };
  return cell::ServeAsTemplate(options);
}

}  // namespace
}  // namespace skerry::compromised

int main(int argc, char** argv) {
  return skerry::compromised::Main(argc, argv);
}
