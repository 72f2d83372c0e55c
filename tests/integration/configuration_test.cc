// The configuration of the real programs: what they print, what they refuse, what private pools read.
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/child.h"
#include "tests/support/places.h"
#include "tests/support/skerry_run.h"
#include "tests/support/variable.h"

namespace skerry::testing {
namespace {

class Configuration : public ::testing::Test {
 protected:
  CommandResult Run(std::vector<std::string> argv) {
    for (const char* name : {"out", "err"}) std::filesystem::remove(dir_ / name);
    argv.front() = Binary(argv.front());
    CommandResult result;
    {
      Child child(argv, {.stdout_path = dir_ / "out", .stderr_path = dir_ / "err"});
      result.exit_code = child.Wait(std::chrono::milliseconds(10'000));
    }
    result.out = ReadFile(dir_ / "out");
    result.err = ReadFile(dir_ / "err");
    return result;
  }
  /// Values without their sources.
  static std::string Values(const std::string& toml) {
    std::string values;
    for (const std::string& line : SplitLines(toml)) {
      if (!line.starts_with("#")) values += line.substr(0, line.rfind("  # ")) + "\n";
    }
    return values;
  }

  TempDir dir_;
  Variable no_config_{"SKERRY_CONFIG", ""};
};

TEST_F(Configuration, PrintedIsTheSameWhenItIsReadBack) {
  const std::vector<std::vector<std::string>> programs = {
      {"skerry-broker", "--clients", "ipc:///tmp/c", "--workers", "ipc:///tmp/w", "--ceiling", "cpuMs=5",
       "--allow-wasm"},
      {"skerry-worker", "--broker", "ipc:///tmp/w", "--isolates", "3", "--jit", "none"},
      {"skerry", "run", "--tenant", "t \"quoted\"", "--isolates", "2"},
      {"skerry", "exec", "--user", "u"},
  };
  for (std::vector<std::string> argv : programs) {
    argv.emplace_back("--print-config");
    const CommandResult first = Run(argv);
    ASSERT_EQ(first.exit_code, 0) << argv.front() << first.err;
    EXPECT_NE(first.out.find("  # flag"), std::string::npos) << first.out;
    EXPECT_NE(first.out.find("  # default"), std::string::npos) << first.out;
    WriteFile(dir_ / "printed.toml", first.out);
    const std::vector<std::string> command(argv.begin(), argv.begin() + (argv.front() == "skerry" ? 2 : 1));
    std::vector<std::string> again = command;
    again.insert(again.end(), {"--config", dir_ / "printed.toml", "--print-config"});
    const CommandResult second = Run(again);
    ASSERT_EQ(second.exit_code, 0) << second.err;
    EXPECT_EQ(Values(first.out), Values(second.out));
    EXPECT_NE(second.out.find("printed.toml:"), std::string::npos);
  }
}

TEST_F(Configuration, WhatIsMissingIsACommentInTheWholeAndAFault) {
  const CommandResult broker = Run({"skerry-broker", "--clients", "ipc:///tmp/c", "--print-config"});
  EXPECT_EQ(broker.exit_code, 2);
  EXPECT_NE(broker.out.find("clients = [\"ipc:///tmp/c\"]"), std::string::npos) << broker.out;
  EXPECT_NE(broker.out.find("\n# workers must be given: --workers, "), std::string::npos) << broker.out;
  EXPECT_NE(broker.out.find("[broker.ceilings]"), std::string::npos) << broker.out;
  EXPECT_EQ(SplitLines(broker.err).size(), 1u) << broker.err;
  const CommandResult worker = Run({"skerry-worker", "--print-config"});
  EXPECT_EQ(worker.exit_code, 2);
  EXPECT_NE(worker.out.find("\n# broker must be given: --broker, "), std::string::npos) << worker.out;
  EXPECT_EQ(SplitLines(worker.err).size(), 1u) << worker.err;
  const CommandResult wrong = Run({"skerry-broker", "--max-queued", "0", "--print-config"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(wrong.out.empty()) << "a value that was not taken would be shown as another";
}

TEST_F(Configuration, AFileThatCannotBeReadIsTheOnlyFault) {
  WriteFile(dir_ / "s.toml", "[broker\n");
  for (const std::string file : {dir_ / "s.toml", dir_ / "nothere.toml"}) {
    for (const std::string program : {"skerry-broker", "skerry-worker"}) {
      const CommandResult result = Run({program, "--config", file});
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_EQ(SplitLines(result.err).size(), 1u) << result.err;
    }
  }
}

TEST_F(Configuration, AWorkerPrintsWhatItComputed) {
  const CommandResult result = Run({"skerry-worker", "--broker", "ipc:///tmp/w", "--print-config"});
  ASSERT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out.find("isolates = 0"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("cell = \"" + Binary("skerry-cell").string()), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("id = \"worker\""), std::string::npos) << result.out;
}

TEST_F(Configuration, FaultsOfFileVariablesAndFlagsAreToldAtOnce) {
  WriteFile(dir_ / "s.toml", "[broker]\npeer_timeout_ms = 100\nmax_queued = true\n[workr]\n");
  const Variable wrong("SKERRY_BROKER_MAX_PEERS", "-1");
  const CommandResult result = Run({"skerry-broker", "--config", dir_ / "s.toml", "--jobs", "1"});
  EXPECT_EQ(result.exit_code, 2) << "CLI11 alone knows of unknown flags";
  const CommandResult faults = Run({"skerry-broker", "--config", dir_ / "s.toml", "--heartbeat-ms", "x"});
  EXPECT_EQ(faults.exit_code, 2);
  EXPECT_TRUE(faults.out.empty());
  for (const std::string fault :
       {"s.toml:2: broker.peer_timeout_ms must be at least three heartbeats",
        "s.toml:3: broker.max_queued must be",
        "s.toml:4: unknown table [workr]; there are [broker], [worker], [client] and [libraries]; did you "
        "mean 'worker'?",
        "skerry-broker: SKERRY_BROKER_MAX_PEERS: must be", "skerry-broker: --heartbeat-ms: must be",
        "broker.clients must be given", "broker.workers must be given"}) {
    EXPECT_NE(faults.err.find(fault), std::string::npos) << fault << "\nin\n" << faults.err;
  }
  EXPECT_EQ(SplitLines(faults.err).size(), 7u) << faults.err;
}

TEST_F(Configuration, EachProcessMindsItsOwnVariablesOnly) {
  const Variable workers("SKERRY_WORKER_NONSENSE", "1");
  EXPECT_EQ(Run({"skerry-worker", "--broker", "ipc:///tmp/w", "--print-config"}).exit_code, 2);
  EXPECT_EQ(
      Run({"skerry-broker", "--clients", "ipc:///c", "--workers", "ipc:///w", "--print-config"}).exit_code,
      0);
  const Variable clients("SKERRY_CLIENT_NONSENSE", "1");
  EXPECT_EQ(Run({"skerry", "run", "--print-config"}).exit_code, 2);
}

TEST_F(Configuration, APrivatePoolIsNotTouchedByThatOfTheMachine) {
  WriteFile(dir_ / "s.toml", "[broker]\nmetrics = \"nonsense\"\nmax_queued = 0\n[client]\ntenant = \"t\"\n");
  const Variable file("SKERRY_CONFIG", dir_ / "s.toml");
  const Variable broker("SKERRY_BROKER_METRICS", "also nonsense");
  const Variable worker("SKERRY_WORKER_ISOLATES", "x");
  EXPECT_TRUE(IsOk(RunJobs({Job("a", "return 1")}).At("a"), 1));
}

TEST_F(Configuration, ARunTakesItsBrokerFromTheFileAndComplainsOfPoolFlagsBesideIt) {
  WriteFile(dir_ / "s.toml",
            "[client]\nbroker = \"ipc://" + (dir_ / "nobody").string() + "\"\nisolates = 2\n");
  const Variable file("SKERRY_CONFIG", dir_ / "s.toml");
  WriteFile(dir_ / "jobs", Job("a", "return 1").Line() + "\n");
  EXPECT_EQ(RunSkerry({"run", dir_ / "jobs"}).exit_code, 69) << "the file's broker was not asked";
  const CommandResult both = RunSkerry({"run", dir_ / "jobs", "--isolates", "3"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.err.find("--isolates: is for a private pool, and a broker is named ("), std::string::npos)
      << both.err;
  EXPECT_EQ(RunSkerry({"run", dir_ / "jobs", "--isolates", "3", "--broker", ""}).exit_code, 0);
}

TEST_F(Configuration, TheFilesOfTheSystemAreReadByTheProgramsThatRunFromThem) {
  const std::string example = SourceRoot() / "ops" / "skerry.toml";
  for (const std::vector<std::string>& argv :
       std::vector<std::vector<std::string>>{{"skerry-broker", "--config", example, "--print-config"},
                                             {"skerry-worker", "--config", example, "--print-config"},
                                             {"skerry", "run", "--config", example, "--print-config"}}) {
    const CommandResult result = Run(argv);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find("skerry.toml:"), std::string::npos);
  }
}

TEST_F(Configuration, ARunAtABrokerWithoutWorkersSaysWhatItWaitsFor) {
  const std::string clients = "ipc://" + (dir_ / "c").string();
  const Child broker(
      {Binary("skerry-broker"), "--clients", clients, "--workers", "ipc://" + (dir_ / "w").string()});
  WriteFile(dir_ / "jobs", Job("a", "return 1").Line() + "\n");
  Child run({Binary("skerry"), "run", dir_ / "jobs", "--broker", clients, "--quiet"},
            {.stderr_path = dir_ / "err"});
  EXPECT_EQ(run.Wait(std::chrono::milliseconds(4'500)), std::nullopt);
  EXPECT_NE(ReadFile(dir_ / "err").find("1 job waits or runs, and none has ended or said"),
            std::string::npos);
}

TEST_F(Configuration, HelpBeginsWithExamples) {
  for (const std::vector<std::string>& argv :
       std::vector<std::vector<std::string>>{{"skerry-broker", "--help"},
                                             {"skerry-worker", "--help"},
                                             {"skerry", "--help"},
                                             {"skerry", "run", "--help"},
                                             {"skerry", "exec", "--help"},
                                             {"skerry", "up", "--help"},
                                             {"skerry", "doctor", "--help"}}) {
    const CommandResult result = Run(argv);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(result.out.starts_with("Examples:\n  skerry")) << result.out.substr(0, 200);
  }
}

bool AsksForHugePages(const std::string& smaps) {
  for (const std::string& line : SplitLines(smaps)) {
    if (line.starts_with("VmFlags:") && line.find(" hg") != std::string::npos) return true;
  }
  return false;
}

TEST_F(Configuration, TheBrokersHeapIsJemallocsAndOnHugePagesUnlessItsOperatorSaysOtherwise) {
  for (const auto& [conf, huge] : {std::pair("", true), {"thp:default", false}}) {
    std::filesystem::remove(dir_ / "err");
    const Variable variable("MALLOC_CONF", conf);
    Child broker({Binary("skerry-broker"), "--clients", "ipc://" + (dir_ / "c").string(), "--workers",
                  "ipc://" + (dir_ / "w").string()},
                 {.stdout_path = dir_ / "out", .stderr_path = dir_ / "err"});
    while (broker.IsRunning() && ReadFile(dir_ / "err").find("serving") == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_TRUE(broker.IsRunning()) << ReadFile(dir_ / "err");
    const std::string smaps = ReadFile("/proc/" + std::to_string(broker.pid()) + "/smaps");
    EXPECT_NE(smaps.find("libjemalloc"), std::string::npos);
    EXPECT_EQ(AsksForHugePages(smaps), huge) << conf;
  }
}

}  // namespace
}  // namespace skerry::testing
