#include "worker/agent/worker_options.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/brokers/broker_keys.h"
#include "common/hash.h"
#include "common/ids.h"
#include "common/limits.h"
#include "worker/agent/machine.h"

namespace skerry::agent {
namespace {

constexpr std::size_t kMaxIsolates = 4096;
constexpr std::size_t kMaxKeptCells = 1024;
constexpr std::size_t kMaxCells = 64;
constexpr std::uint64_t kMaxKeptCodeMb = 4096;
constexpr std::uint64_t kMaxJobMemoryMb = SpecOf(LimitId::kMemoryMb).hard_maximum;
constexpr std::uint64_t kMinJobMemoryMb = SpecOf(LimitId::kMemoryMb).minimum;

}  // namespace

void WorkerOptions::FillDefaults(unsigned cores, Bytes memory) {
  if (isolates == 0) isolates = std::size_t{2} * cores;
  if (memory_mb == 0) memory_mb = memory.mib() * 8 / 10;
  // One makes some 5,000 forks a second: the trivial jobs of five cores. What is set aside for them is no
  // job's.
  if (cells == 0)
    cells = std::clamp<std::size_t>(std::min<std::uint64_t>(cores / 4, memory_mb / 4096), 1, kMaxCells);
  if (!kept_mb) {
    kept_mb = memory_mb >= kSmallWorkerMb ? memory_mb / 8 : libraries.empty() ? 0 : kFewLibrariesMb;
  }
  if (cell_program.empty()) cell_program = BesideOwnBinary("skerry-cell");
  // The random part is this process's: two workers under one name would throw each other out of the broker
  // for ever.
  id = (id.empty() ? "worker" : id) + "-" + RandomHex(8);
  const std::uint64_t jobs_mb = ManagerOptions().JobsMb();
  if (jobs_mb >= kMinJobMemoryMb) max_job_memory_mb = std::min(max_job_memory_mb, jobs_mb);
}

Status WorkerOptions::ReadLibraries() {
  std::vector<LibraryFile> files;
  for (const std::string& library : libraries) {
    const std::size_t equals = library.find('=');
    if (equals == std::string::npos) return Fail(ErrorKind::kInvalid, "libraries: must be NAME=PATH");
    files.push_back({library.substr(0, equals), library.substr(equals + 1)});
  }
  auto read = LibraryShelf::Read(files);
  if (!read) return Fail(read.error());
  shelf = std::move(*read);
  return {};
}

Status WorkerOptions::Validate() const {
  std::string faults;
  const auto complain = [&](const std::string& fault) { faults += (faults.empty() ? "" : "\n") + fault; };
  if (brokers.empty()) complain("--broker: is missing");
  if (auto fit = CheckBrokerKeys(brokers, key_file, broker_key, keys::Role::kWorker); !fit) {
    complain(fit.error().message);
  }
  if (isolates < 1 || isolates > kMaxIsolates) complain("--isolates: must be 1 to 4096");
  if (cells > kMaxCells) complain("--cells: must be 1 to 64");
  if (spares > kMaxIsolates) complain("--spares: must be 0 to 4096");
  if (jit != "full" && jit != "maglev" && jit != "none") complain("--jit: must be full, maglev or none");
  if (sandbox != "strict" && sandbox != "best-effort" && sandbox != "off") {
    complain("--sandbox: must be strict, best-effort or off");
  }
  if (max_job_memory_mb < kMinJobMemoryMb || max_job_memory_mb > kMaxJobMemoryMb) {
    complain("--max-job-memory-mb: must be 8 to 16384");
  }
  if (id.size() > kMaxIdBytes) complain("--id: must be at most 239 bytes");  // with the part of FillDefaults
  const auto manager = ManagerOptions();
  if (manager.JobsMb() < kMinJobMemoryMb) {
    complain("--memory-mb: " + std::to_string(memory_mb) + " MiB leave no room for a job: cells and " +
             std::to_string(spares) + " spares take " + std::to_string(manager.ReservedMb()));
  }
  if (kept_cells > kMaxKeptCells) complain("--kept-cells: must be 0 to 1024");
  if (kept_code_mb > kMaxKeptCodeMb) complain("--kept-code-mb: must be 0 to 4096");
  if (!libraries.empty() && (kept_cells == 0 || kept_mb.value_or(0) < kLibraryMb)) {
    complain("--kept-mb: libraries need a cell that is kept and " + std::to_string(kLibraryMb) +
             " MiB of it while they are evaluated");
  }
  if (::access(cell_program.c_str(), X_OK) != 0) {
    complain("--cell: '" + cell_program + "' is not there or cannot be executed");
  }
  if (faults.empty()) return {};
  return Fail(ErrorKind::kInvalid, faults);
}

IsolateManager::Options WorkerOptions::ManagerOptions() const {
  IsolateManager::Options options;
  options.max_concurrent_isolates = isolates;
  options.max_spares = spares;
  options.max_cells = std::max<std::size_t>(cells, 1);
  options.worker_memory_mb = memory_mb;
  options.derived.kept = {kept_cells, kept_mb.value_or(0)};
  return options;
}

}  // namespace skerry::agent
