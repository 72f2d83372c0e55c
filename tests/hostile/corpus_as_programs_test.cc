// Every hostile input as a program that is kept and run for two cases, which must end as jobs of their own
// may.
//
// As it is, only its compiled code is kept, and each case is hostile in a fork of the program's cell. Wrapped
// into a module that runs it while it is evaluated, it is hostile in the place of the cell itself: what it
// comes to there must be nobody's verdict. SKERRY_CASES=text runs only the cases whose id contains the text.
#include <cstdlib>

#include "common/testing/free_port.h"
#include "tests/hostile/hostile_case.h"
#include "tests/support/cases_report.h"
#include "tests/support/metrics_page.h"
#include "tests/support/pool_watch.h"

namespace skerry::testing {
namespace {

// More would make timeouts of what is only slow.
constexpr int kSlots = 4;
constexpr std::size_t kTenants = 16;

std::string TenantOf(std::size_t index) {
  return "t" + std::to_string(index % kTenants);
}

Job WithTwoCases(const HostileCase& hostile, std::size_t index) {
  HostileCase without_input = hostile;
  without_input.fields.erase("input");
  const Json input = hostile.fields.value("input", Json());
  return without_input.ToJob(TenantOf(index)).Set("cases", {input, input});
}

// Not what reads `input`: it has none while it is evaluated.
Job AsModule(const HostileCase& hostile, std::size_t index) {
  HostileCase wrapped = hostile;
  wrapped.fields["mode"] = "module";
  wrapped.fields["code"] =
      "export default await (async () => {\n" + hostile.fields.at("code").get<std::string>() + "\n})();";
  return wrapped.ToJob(TenantOf(index));
}

bool IsAFunctionsBody(const HostileCase& hostile) {
  return !hostile.fields.contains("mode") && !hostile.fields.contains("input");
}

::testing::AssertionResult EndsAs(const HostileCase& hostile, const JobResult& plain,
                                  const JobResult& result) {
  const auto differs = [&] {
    return ::testing::AssertionFailure() << Shown(result) << "\nbut plainly " << Shown(plain);
  };
  if (result.ok() != plain.ok() || result.code() != plain.code()) {
    // Some have several ends, as the machine will have it.
    return Accepts(hostile, plain) && Accepts(hostile, result) ? ::testing::AssertionSuccess() : differs();
  }
  return result.ok() && result.Events() != plain.Events() ? differs() : ::testing::AssertionSuccess();
}

class CorpusAsPrograms : public ::testing::Test {
 protected:
  RunReport Run(const std::vector<Job>& jobs) {
    return RunCases(pool_, jobs,
                    {.fixtures = Json{{"*", "answer"}}, .patience = std::chrono::milliseconds(600'000)});
  }

  void ExpectAcceptedEnds(std::size_t every) {
    const Resources before = AtRest(pool_);
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < corpus_.size(); i += every) jobs.push_back(WithTwoCases(corpus_[i], i));
    const RunReport report = Run(jobs);
    for (std::size_t i = 0; i < corpus_.size(); i += every) {
      const CasesReport cases = CasesOf(report, corpus_[i].id);
      EXPECT_EQ(cases.cases.size(), 2u) << corpus_[i].id;
      EXPECT_FALSE(cases.summary.is_null()) << corpus_[i].id;
      for (const auto& [number, result] : cases.cases)
        EXPECT_TRUE(Accepts(corpus_[i], result)) << corpus_[i].id << ", case " << number;
    }
    ExpectThePoolIsWhole(before);
  }

  /// Those of which one end is a TIMEOUT and the other is not, though it should be.
  std::vector<std::size_t> ComparedToPlainJobs(const std::vector<std::size_t>& which) {
    std::vector<Job> jobs;
    for (const std::size_t i : which) {
      const Job module = AsModule(corpus_[i], i);
      jobs.push_back(module.As(corpus_[i].id + " plain"));
      jobs.push_back(Job(module).Set("cases", {nullptr, nullptr}));
    }
    const RunReport report = Run(jobs);
    std::vector<std::size_t> late;
    for (const std::size_t i : which) {
      const HostileCase& hostile = corpus_[i];
      const JobResult& plain = report.At(hostile.id + " plain");
      const CasesReport cases = CasesOf(report, hostile.id);
      EXPECT_EQ(cases.cases.size(), 2u) << hostile.id;
      for (const auto& [number, result] : cases.cases) {
        const auto same = EndsAs(hostile, plain, result);
        if (!same && (plain.code() == "TIMEOUT" || result.code() == "TIMEOUT")) {
          late.push_back(i);
        } else {
          EXPECT_TRUE(same) << hostile.id << ", case " << number;
        }
      }
    }
    return late;
  }

  void ExpectThePoolIsWhole(const Resources& before) {
    const Resources after = AtRest(pool_);
    // Programs that are kept have a process each, and some descriptors.
    const auto page =
        AwaitMetrics(port_, [](const MetricsPage& p) { return p.Value("skerry_running_jobs") == 0; });
    const auto kept =
        static_cast<std::size_t>(page.Value("skerry_derived_cells_total{event=\"program_made\"}") -
                                 page.Value("skerry_derived_cells_total{event=\"program_ended\"}") -
                                 page.Value("skerry_derived_cells_total{event=\"program_evicted\"}"));
    EXPECT_LE(after.processes, before.processes + kept);
    if (std::getenv("SKERRY_CASES") == nullptr) {
      for (const std::string event : {"program_made", "program_unkeepable", "program_job"})
        EXPECT_GT(page.Value("skerry_derived_cells_total{event=\"" + event + "\"}"), 0) << event;
    }
    EXPECT_EQ(page.Sum("skerry_jobs_submitted_total"), page.Sum("skerry_jobs_finished_total"));
    EXPECT_EQ(page.Sum("skerry_stray_finals_total"), 0);
    EXPECT_TRUE(pool_.broker().IsRunning());
    EXPECT_TRUE(pool_.worker().IsRunning());
    EXPECT_TRUE(IsOk(pool_.RunOne(Job("after", "return 1+1")), 2));
  }

  const std::vector<HostileCase> corpus_ = AllHostileCases(SKERRY_TEST_FOLDER);
  const std::uint16_t port_ = FreePort();
  Pool pool_{{.isolates = kSlots,
              .broker_args = {"--metrics", "127.0.0.1:" + std::to_string(port_), "--program-crashes", "0",
                              "--tenant-crashes", "0"},
              .worker_args = {"--kept-cells", "16"}}};
};

TEST_F(CorpusAsPrograms, EverySixthEndsAsJobsOfItsOwnMay) {
  ExpectAcceptedEnds(6);
}

using CorpusAsProgramsFull = CorpusAsPrograms;

TEST_F(CorpusAsProgramsFull, CasesEndAsJobsOfTheirOwnMay) {
  ExpectAcceptedEnds(1);
}

TEST_F(CorpusAsProgramsFull, WhatIsHostileWhileItIsEvaluatedEndsAsAJobOfItsOwn) {
  const Resources before = AtRest(pool_);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < corpus_.size(); ++i) {
    if (IsAFunctionsBody(corpus_[i])) all.push_back(i);
  }
  // Who was only slow beside three others has time enough alone.
  for (const std::size_t i : ComparedToPlainJobs(all)) {
    EXPECT_TRUE(ComparedToPlainJobs({i}).empty())
        << corpus_[i].id << " is late, but not plainly, or the other way";
  }
  ExpectThePoolIsWhole(before);
}

}  // namespace
}  // namespace skerry::testing
