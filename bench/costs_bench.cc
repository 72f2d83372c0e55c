// costs: the CPU time of a job, by the part of the stack that uses it, beside that of a job in a bare loop.
#include <unistd.h>

#include <cmath>

#include "bench/bare_loop.h"
#include "bench/bench.h"
#include "bench/pool.h"
#include "bench/process_times.h"
#include "bench/stack_load.h"
#include "bench/statistics.h"

namespace skerry::bench {
namespace {

/// What each part has used so far.
struct Reading {
  pid_t cell_pid = -1;
  ProcessTimes client;
  ProcessTimes broker;
  ProcessTimes worker;
  ProcessTimes cell;
};

Result<Reading> Read(const Pool& pool) {
  const auto cell = FindCell(pool.worker_pid());
  if (!cell) return Fail(cell.error());
  Reading reading;
  reading.cell_pid = *cell;
  const std::pair<pid_t, ProcessTimes*> parts[] = {{getpid(), &reading.client},
                                                   {pool.broker_pid(), &reading.broker},
                                                   {pool.worker_pid(), &reading.worker},
                                                   {*cell, &reading.cell}};
  for (const auto& [pid, times] : parts) {
    auto read = ReadProcessTimes(pid);
    if (!read) return Fail(read.error());
    *times = *read;
  }
  return reading;
}

/// What one part spends on a job, by round.
struct Part {
  std::string name;
  // The kernel divides user time from its own by what runs at its ticks; a process that ends before it has
  // seen one counts as all user time. Sums are exact.
  bool lives_long = true;
  std::vector<double> user_us = {};
  std::vector<double> kernel_us = {};
  std::vector<double> cpu_us = {};
  std::vector<double> faults = {};

  void Add(const Spent& spent, double jobs) {
    if (lives_long) user_us.push_back(spent.user_us / jobs);
    if (lives_long) kernel_us.push_back(spent.kernel_us / jobs);
    cpu_us.push_back(spent.cpu_us() / jobs);
    faults.push_back(spent.faults / jobs);
  }
};

class Costs {
 public:
  Costs(const Setting& setting, const Pool& pool, Client& client, const Workload& workload)
      : setting_(setting), pool_(pool), client_(client), workload_(workload) {}

  /// Its CPU time per job. The isolates' is what the worker has reaped: all of them are its children.
  Result<double> Stack() {
    const auto before = Read(pool_);
    if (!before) return Fail(before.error());
    auto sample = LoadStack(client_, workload_, setting_.plan.stretch, setting_.in_flight());
    if (!sample) return Fail(sample.error());
    const auto after = Read(pool_);
    if (!after) return Fail(after.error());
    if (before->cell_pid != after->cell_pid)
      return Fail(ErrorKind::kUnavailable, "the cell was renewed meanwhile: measure again");
    const double jobs = static_cast<double>(sample->latencies_ms.size());
    const Spent spent[] = {after->client.own - before->client.own, after->broker.own - before->broker.own,
                           after->worker.own - before->worker.own, after->cell.own - before->cell.own,
                           after->worker.reaped - before->worker.reaped};
    Spent all;
    for (std::size_t i = 0; i < std::size(spent); ++i) {
      parts_[i].Add(spent[i], jobs);
      all = all + spent[i];
    }
    parts_[std::size(spent)].Add(all, jobs);
    return all.cpu_us() / jobs;
  }

  Result<double> Bare() {
    const auto figures = RunBareLoops(setting_, workload_);
    if (!figures) return Fail(figures.error());
    bare_us_.push_back(figures->cpu_us_per_job);
    return figures->cpu_us_per_job;
  }

  void Print() const {
    for (const Part& part : parts_) {
      setting_.report->Add(Row()
                               .Text("workload", workload_.name)
                               .Text("part", part.name)
                               .Number("userUs", part.lives_long ? Median(part.user_us) : NAN, 0)
                               .Number("kernelUs", part.lives_long ? Median(part.kernel_us) : NAN, 0)
                               .Number("cpuUs", Median(part.cpu_us), 0)
                               .Number("pageFaults", Median(part.faults), 0)
                               .Text("baseline", "bare")
                               .Number("baselineCpuUs", Median(bare_us_), 0)
                               .Number("ratio", MedianRatio(part.cpu_us, bare_us_), 2));
    }
  }

 private:
  const Setting& setting_;
  const Pool& pool_;
  Client& client_;
  const Workload& workload_;
  std::vector<Part> parts_ = {{"client"}, {"broker"},         {"worker"},
                              {"cell"},   {"isolate", false}, {"all", false}};
  std::vector<double> bare_us_;
};

}  // namespace

Status RunCostsBench(const Setting& setting) {
  const auto workloads = setting.WorkloadsOr({"trivial", "tool", "compute", "calls", "large"});
  if (!workloads) return Fail(workloads.error());
  auto pool = Pool::Start(setting.binaries);
  if (!pool) return Fail(pool.error());
  for (const Workload& workload : *workloads) {
    auto client = ConnectFor(workload, (*pool)->clients());
    if (!client) return Fail(client.error());
    if (auto warm = LoadStack(**client, workload, setting.plan.warm_up, setting.in_flight()); !warm)
      return Fail(warm.error());
    Costs costs(setting, **pool, **client, workload);
    const auto measured = Interleave({{workload.name, [&] { return costs.Stack(); }},
                                      {workload.name + " bare", [&] { return costs.Bare(); }}},
                                     setting.plan.rounds, *setting.progress);
    if (!measured) return Fail(measured.error());
    setting.progress->Clear();
    costs.Print();
  }
  setting.report->Note("client: this process; ratio: CPU time over that of a job in a bare loop");
  return {};
}

}  // namespace skerry::bench
