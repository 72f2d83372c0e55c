// Every probe but the configuration's on one machine of tables.
#pragma once

#include <gtest/gtest.h>

#include "clients/cli/doctor/probes.h"
#include "clients/cli/doctor/testing/fake_machine.h"

namespace skerry::cli::doctor {

inline const Installation kInstalled{"/opt/bin", {}};

class Probes : public ::testing::Test {
 protected:
  Findings All() {
    Findings findings;
    ProbeKernel(machine_, findings);
    ProbeMemory(machine_, findings);
    ProbeResources(machine_, findings);
    ProbeCell(machine_, kInstalled, findings);
    const std::string sandbox = ProbeSandbox(machine_, kInstalled, Millis(1'000), findings);
    ProbeJob(machine_, kInstalled, sandbox, Millis(1'000), findings);
    return findings;
  }
  /// The one finding that is not ok, as its line.
  std::string Complaint() {
    std::string line;
    for (const Finding& finding : All()) {
      if (finding.verdict == Verdict::kOk) continue;
      EXPECT_TRUE(line.empty()) << line << "\nand " << LineOf(finding);
      EXPECT_FALSE(finding.advice.empty()) << "nothing to do about it: " << LineOf(finding);
      line = LineOf(finding);
    }
    EXPECT_FALSE(line.empty()) << "nothing was found";
    return line;
  }
  /// What the check of that name found.
  std::string What(const std::string& check) {
    for (const Finding& finding : All()) {
      if (finding.check == check) return finding.what;
    }
    return "";
  }
  /// The worker's answer to --probe-sandbox.
  void ProbeSays(int status, const std::string& out, const std::string& err) {
    machine_.run = [=, run = FakeMachine().run](const std::vector<std::string>& argv) {
      if (argv.size() < 2 || argv[1] != "--probe-sandbox") return run(argv);
      Ran ran;
      ran.status = status;
      ran.out = out;
      ran.err = err;
      return ran;
    };
  }
  static bool Has(const std::string& line, const std::string& start, const std::string& part) {
    return line.starts_with(start) && line.find(part) != std::string::npos;
  }

  FakeMachine machine_;
};

#define EXPECT_COMPLAINT(start, part)                        \
  do {                                                       \
    const std::string line = Complaint();                    \
    EXPECT_TRUE(Has(line, start, part)) << "said: " << line; \
  } while (false)

}  // namespace skerry::cli::doctor
