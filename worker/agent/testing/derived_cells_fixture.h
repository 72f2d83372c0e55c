// Jobs that want derived cells, with children of the test as cells and isolates.
//
// Threads: the test's. Ownership: the fixture's. Errors: failures of the test.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/hash.h"
#include "common/logging.h"
#include "worker/agent/isolates/isolate_manager.h"
#include "worker/agent/testing/fake_cell.h"
#include "worker/agent/testing/loop_runner.h"

namespace skerry::agent {

class DerivedCellsTest : public ::testing::Test {
 protected:
  /// A job that waits, or has what it waited for.
  struct Job {
    std::optional<WaitingJobs::Ticket> ticket;
    std::optional<Isolate> isolate;
    std::string failure;
    bool ended() const { return isolate || !failure.empty(); }
  };

  DerivedCellsTest() {
    (void)InitLogging("test", "off");
    options_.max_concurrent_isolates = 8;
    options_.max_spares = 0;
    options_.worker_memory_mb = 4096;
    options_.derived.kept = {.max_cells = 4, .memory_mb = 1024};
    options_.derived.max_wait = Millis(400);
    options_.derived.first_delay = Millis(5);
    options_.derived.longest_delay = Millis(20);
    options_.derived.broken = {.first_delay = Millis(5), .longest_delay = Millis(20)};
    options_.cells.retire_interval = Millis(0);
  }

  DerivedCells& cells() {
    if (!manager_) {
      manager_.emplace(loop_, FakeCells(plan_), options_);
      bool ready = false;
      manager_->Start([&](const Status& status) { ready = status.has_value(); });
      EXPECT_TRUE(RunUntil(loop_, [&] { return ready; }));
    }
    return manager_->derived();
  }
  JobPlan PlanOf(const std::string& code, std::vector<std::string> libraries = {},
                 RequestedLimits limits = {}) {
    wire::Dispatch dispatch;
    dispatch.job.id = JobId("j");
    dispatch.job.program = true;
    dispatch.job.code_hash = Sha256(code);
    dispatch.job.libraries = std::move(libraries);
    dispatch.job.limits = std::move(limits);
    auto planned = PlanJob(dispatch, {code, ""}, 16'384, shelf_);
    return std::get<JobPlan>(planned);
  }
  static WaitingJobs::Ready Into(Job& job) {
    return [&job](Result<Isolate> isolate) {
      if (isolate) {
        job.isolate.emplace(std::move(*isolate));
      } else {
        job.failure = isolate.error().message;
      }
    };
  }
  void AskFor(Job& job, const JobPlan& plan) { job.ticket = cells().AwaitProgram(plan, Into(job)); }
  /// What becomes of one job with this program: "isolate", "plain" or why it waited in vain.
  std::string Try(const JobPlan& plan) {
    Job job;
    AskFor(job, plan);
    if (!job.ticket) return "plain";
    EXPECT_TRUE(RunUntil(loop_, [&] { return job.ended(); }));
    return job.isolate ? "isolate" : job.failure;
  }
  std::string TryLibraries(const JobPlan& plan) {
    Job job;
    AskForLibraries(job, plan);
    EXPECT_TRUE(RunUntil(loop_, [&] { return job.ended(); }));
    return job.isolate ? "isolate" : job.failure;
  }
  void AskForLibraries(Job& job, const JobPlan& plan) {
    auto ticket = cells().AwaitLibraries(plan, Into(job));
    if (ticket) {
      job.ticket = std::move(*ticket);
    } else {
      job.failure = "at once: " + ticket.error().message;
    }
  }
  std::uint64_t Count(DerivedCellEvent event) const {
    return manager_->Figures().derived_cells[static_cast<std::size_t>(event)];
  }
  bool AliveAre(int count) {
    return RunUntil(
        loop_, [&] { return plan_.derived_alive == count; }, Millis(2'000));
  }

  EventLoop loop_;
  FakeCellPlan plan_;
  LibraryShelf shelf_{{{"a", "exports.a = 1"}, {"b", "exports.b = 2"}}};
  IsolateManager::Options options_;
  std::optional<IsolateManager> manager_;
};

}  // namespace skerry::agent
