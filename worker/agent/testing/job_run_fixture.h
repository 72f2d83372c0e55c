// Jobs through manager, isolate and verdict, with children of the test as cells and isolates: one at a time
// by Play, or Begin and Finish; as many as a test makes by Make.
//
// Threads: the test's. Ownership: the fixture's. Errors: failures of the test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "common/logging.h"
#include "worker/agent/jobs/job_run.h"
#include "worker/agent/testing/fake_cell.h"
#include "worker/agent/testing/fake_uplink.h"
#include "worker/agent/testing/loop_runner.h"

namespace skerry::agent {

class JobRunTest : public ::testing::Test {
 protected:
  JobRunTest() {
    (void)InitLogging("test", "off");
    options_.max_concurrent_isolates = 2;
    options_.max_spares = 1;
    options_.worker_memory_mb = 4096;
    options_.max_wait = Millis(300);
  }
  ~JobRunTest() override {
    job_.reset();
    manager_.reset();
  }

  IsolateManager& manager() {
    if (!manager_) {
      manager_ = std::make_unique<IsolateManager>(loop_, FakeCells(plan_), options_);
      bool ready = false;
      manager_->Start([&](const Status& status) { ready = status.has_value(); });
      EXPECT_TRUE(RunUntil(loop_, [&] { return ready; }));
    }
    return *manager_;
  }

  void Begin(const std::string& script, RequestedLimits limits = {}, Retry retry = Retry::kSafe,
             const std::string& input = "") {
    done_ = false;
    uplink_.sent.clear();
    job_ = Make(LeaseId(9), script, std::move(limits), retry, input, [this] { done_ = true; });
    job_->Begin();
  }

  /// Holds its lease; to be begun.
  std::unique_ptr<JobRun> Make(LeaseId id, const std::string& script, RequestedLimits limits, Retry retry,
                               const std::string& input, std::function<void()> done) {
    wire::Dispatch dispatch;
    dispatch.lease = id;
    dispatch.job = asks_;
    dispatch.job.id = JobId("j");
    dispatch.job.limits = std::move(limits);
    dispatch.job.retry = retry;
    auto planned = PlanJob(dispatch, {script, input}, 16'384, shelf_);
    auto& plan = std::get<JobPlan>(planned);
    auto lease = manager().Acquire(plan.limits.memory_mb());
    EXPECT_TRUE(lease);
    return std::make_unique<JobRun>(loop_, manager(), uplink_, std::move(plan), std::move(*lease),
                                    std::move(done));
  }

  // Runs to the one FINAL.
  Outcome Finish() {
    EXPECT_TRUE(RunUntil(loop_, [&] { return done_; }));
    const auto finals = uplink_.All<wire::Final>();
    EXPECT_EQ(finals.size(), 1u);
    if (finals.empty()) return {};
    EXPECT_EQ(finals[0].first.lease, LeaseId(9));
    EXPECT_TRUE(std::holds_alternative<wire::Final>(uplink_.sent.back().first))
        << "nothing follows the FINAL";
    EXPECT_EQ(manager().ledger().leases(), 0u);
    Outcome outcome = wire::ToOutcome(finals[0].first, finals[0].second.at(0));
    if (finals[0].second.size() > 1) outcome.receipt = finals[0].second.at(1);
    return outcome;
  }
  Outcome Play(const std::string& script, RequestedLimits limits = {}, Retry retry = Retry::kSafe) {
    Begin(script, std::move(limits), retry);
    return Finish();
  }
  static std::string Text(const Outcome& outcome) {
    if (outcome.ok()) return "ok " + outcome.value;
    return std::string(NameOf(outcome.error->code)) + " " + outcome.error->limit;
  }

  EventLoop loop_;
  FakeCellPlan plan_;
  IsolateManager::Options options_;
  FakeUplink uplink_;
  JobSpec asks_;  // of the next jobs, beyond their script
  LibraryShelf shelf_;
  std::unique_ptr<IsolateManager> manager_;
  std::unique_ptr<JobRun> job_;
  bool done_ = false;
};

}  // namespace skerry::agent
