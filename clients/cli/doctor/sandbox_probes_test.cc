// What the doctor says of the sandbox that workers are configured to have.
#include <algorithm>

#include "clients/cli/doctor/testing/probes_fixture.h"

namespace skerry::cli::doctor {
namespace {

TEST_F(Probes, TellTheLevelOfTheSandbox) {
  const Findings findings = All();
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.check == "sandbox"; });
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->verdict, Verdict::kOk);
  EXPECT_EQ(found->what, "namespaces+seccomp (user-namespace seccomp)");
}

TEST_F(Probes, WarnOfASandboxWithFewerWallsThanThereCouldBe) {
  for (const char* level : {"landlock+seccomp", "seccomp"}) {
    ProbeSays(0, std::string(level) + " (seccomp)\n", "");
    EXPECT_COMPLAINT("warn  sandbox: " + std::string(level) + " (seccomp)",
                     "see namespaces and landlock above");
  }
}

TEST_F(Probes, SayWhichPropertyOfTheSandboxIsMissingAndHowToGrantIt) {
  ProbeSays(1, "", "skerry-worker: the sandbox would not be complete: no network (needs seccomp filters)\n");
  EXPECT_COMPLAINT(
      "FAIL  sandbox: skerry-worker: the sandbox would not be complete: no network (needs seccomp",
      "grant what it needs");
}

TEST_F(Probes, RefuseASandboxThatIsNone) {
  for (const char* told : {"none ()\n", "walls\n", ""}) {
    ProbeSays(0, told, "");
    EXPECT_COMPLAINT("FAIL  sandbox: the worker told ", "./dev build");
  }
}

TEST_F(Probes, WarnOfWorkersThatAreConfiguredToHoldNothingIn) {
  ProbeSays(0, "none ()\nunder --sandbox=off (SKERRY_WORKER_SANDBOX)\nmissing: no network (needs walls)\n",
            "");
  EXPECT_COMPLAINT("warn  sandbox: your workers are configured off (SKERRY_WORKER_SANDBOX): nothing holds",
                   "; take that setting away");
}

TEST_F(Probes, WarnOfWorkersThatAreConfiguredToGoOnWithoutAWall) {
  ProbeSays(0,
            "none (no-capabilities)\nunder --sandbox=best-effort (s.toml:7)\nmissing: no network (needs "
            "walls)\n",
            "");
  EXPECT_COMPLAINT(
      "warn  sandbox: your workers are configured best-effort (s.toml:7), and this machine gives none",
      "; grant no network (needs walls), then say strict");
  ProbeSays(0, "seccomp (seccomp)\nunder --sandbox=best-effort (flag)\n", "");
  EXPECT_COMPLAINT("warn  sandbox: your workers are configured best-effort (flag): seccomp (seccomp)",
                   "; say strict: this machine has all that it asks for");
}

TEST_F(Probes, RunTheJobAsTheWorkersAreConfigured) {
  for (const char* mode : {"strict", "best-effort", "off"}) {
    ProbeSays(0, "none ()\nunder --sandbox=" + std::string(mode) + " (flag)\n", "");
    std::vector<std::string> ran;
    machine_.run = [&, run = machine_.run](const std::vector<std::string>& argv) {
      if (argv.size() > 1 && argv[1] == "exec") ran = argv;
      return run(argv);
    };
    All();
    const auto flag = std::find(ran.begin(), ran.end(), "--sandbox");
    ASSERT_NE(flag, ran.end());
    EXPECT_EQ(*(flag + 1), mode);
  }
}

TEST_F(Probes, AskTheWorkerByTheConfigurationThatTheDoctorWasGiven) {
  std::vector<std::string> asked;
  machine_.run = [&](const std::vector<std::string>& argv) {
    asked = argv;
    return Ran{};
  };
  Findings findings;
  ProbeSandbox(machine_, {"/opt/bin", {"--config", "x.toml"}}, Millis(1), findings);
  EXPECT_EQ(asked,
            (std::vector<std::string>{"/opt/bin/skerry-worker", "--probe-sandbox", "--config", "x.toml"}));
}

TEST_F(Probes, DoNotCallAFaultyConfigurationAFaultySandbox) {
  ProbeSays(2, "", "skerry-worker: s.toml:3: worker.sandbox must be strict\n");
  EXPECT_COMPLAINT("FAIL  sandbox: skerry-worker: s.toml:3: worker.sandbox must be strict",
                   "; correct the worker's configuration");
}

}  // namespace
}  // namespace skerry::cli::doctor
