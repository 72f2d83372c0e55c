// `skerry doctor` on this machine, and on installations that are broken.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/child.h"
#include "tests/support/json.h"
#include "tests/support/places.h"
#include "tests/support/skerry_run.h"
#include "tests/support/variable.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPromised{5'000};

class Doctor : public ::testing::Test {
 protected:
  struct Report {
    std::optional<int> exit_code;
    std::map<std::string, std::vector<Json>> checks;
    std::string text;
  };
  /// `skerry doctor --json` of the installation in `binaries`.
  Report Run(std::vector<std::string> arguments = {},
             std::filesystem::path binaries = Binary("skerry").parent_path()) {
    arguments.insert(arguments.begin(), {binaries / "skerry", "doctor", "--json"});
    std::filesystem::remove(dir_ / "out");
    Report report;
    {
      Child doctor(arguments, {.stdout_path = dir_ / "out", .stderr_path = dir_ / "err"});
      report.exit_code = doctor.Wait(kPromised);
    }
    EXPECT_TRUE(report.exit_code) << "took longer than promised";
    report.text = ReadFile(dir_ / "out");
    for (const std::string& line : SplitLines(report.text)) {
      const Json check = Json::parse(line, nullptr, false);
      EXPECT_FALSE(check.is_discarded()) << line;
      if (check.is_discarded()) continue;
      for (const char* key : {"verdict", "check", "what", "why", "advice"})
        EXPECT_TRUE(check.contains(key)) << line;
      EXPECT_EQ(check["advice"] == "", check["verdict"] == "ok") << line;
      report.checks[check["check"].get<std::string>()].push_back(check);
    }
    return report;
  }
  static std::string Verdict(const Report& report, const std::string& check) {
    const auto found = report.checks.find(check);
    return found == report.checks.end() ? "" : found->second.front()["verdict"].get<std::string>();
  }

  TempDir dir_;
  Variable no_config_{"SKERRY_CONFIG", ""};
};

TEST_F(Doctor, RunsAJobHereAndFindsNothingBroken) {
  const Report report = Run();
  EXPECT_EQ(report.exit_code, 0) << report.text;
  for (const char* check :
       {"architecture", "kernel", "seccomp", "pidfd", "clone", "clone3", "descriptors", "processes", "memory",
        "temporary_space", "zeromq", "cell", "preload", "sandbox", "job"}) {
    EXPECT_NE(Verdict(report, check), "") << check << " was not checked";
    EXPECT_NE(Verdict(report, check), "fail") << check;
  }
  EXPECT_NE(report.checks.at("cell")[0]["what"].get<std::string>().find("V8 1"), std::string::npos);
  EXPECT_TRUE(report.checks.at("job")[0]["what"].get<std::string>().ends_with(" ms"));
  EXPECT_NE(report.checks.at("sandbox")[0]["what"].get<std::string>().find("seccomp ("), std::string::npos);
}

TEST_F(Doctor, PrintsALinePerCheckForPeople) {
  const auto result = RunSkerry({"doctor"});
  for (const std::string& line : SplitLines(result.out)) {
    EXPECT_TRUE(line.starts_with("ok    ") || line.starts_with("warn  ") || line.starts_with("FAIL  "))
        << line;
    EXPECT_NE(line.find(" — "), std::string::npos) << line;
  }
}

TEST_F(Doctor, TellsEveryFaultOfTheConfigurationAndFails) {
  WriteFile(dir_ / "bad.toml", "[broker]\nmax_queued = 0\n[worker]\nisolate = 1\n[client]\ntenant = \"\"\n");
  const Report report = Run({"--config", dir_ / "bad.toml"});
  EXPECT_EQ(report.exit_code, 1);
  for (const char* fault : {"bad.toml:2: broker.max_queued must be",
                            "bad.toml:4: unknown key worker.isolate; did you mean 'isolates'?",
                            "bad.toml:6: client.tenant must be"}) {
    EXPECT_NE(report.text.find(fault), std::string::npos) << report.text;
  }
  EXPECT_EQ(Verdict(report, "job"), "ok") << "the trial job must not depend on the configuration";
}

TEST_F(Doctor, TellsTheFaultsOfTheTenantsFileAndThatItIsNotThere) {
  WriteFile(dir_ / "tenants.toml", "[default]\nweigth = 1\n");
  WriteFile(dir_ / "pool.toml", "[broker]\ntenants = \"tenants.toml\"\n");
  const Report faulty = Run({"--config", dir_ / "pool.toml"});
  EXPECT_EQ(faulty.exit_code, 1);
  EXPECT_NE(faulty.text.find("tenants.toml:2: "), std::string::npos) << faulty.text;
  std::filesystem::remove(dir_ / "tenants.toml");
  const Report missing = Run({"--config", dir_ / "pool.toml"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.text.find((dir_ / "tenants.toml").string()), std::string::npos) << missing.text;
}

TEST_F(Doctor, WarnsOfASandboxThatWasTurnedOffByFileOrVariable) {
  WriteFile(dir_ / "off.toml", "[worker]\nsandbox = \"off\"\n");
  const Report by_file = Run({"--config", dir_ / "off.toml"});
  EXPECT_EQ(Verdict(by_file, "sandbox"), "warn") << by_file.text;
  const std::string what = by_file.checks.at("sandbox")[0]["what"].get<std::string>();
  EXPECT_TRUE(what.starts_with("your workers are configured off (")) << what;
  EXPECT_NE(what.find("off.toml:2)"), std::string::npos) << what;
  EXPECT_EQ(Verdict(by_file, "job"), "ok") << by_file.text;

  const Variable off("SKERRY_WORKER_SANDBOX", "off");
  const Report by_variable = Run();
  EXPECT_EQ(Verdict(by_variable, "sandbox"), "warn") << by_variable.text;
  EXPECT_NE(by_variable.text.find("configured off (SKERRY_WORKER_SANDBOX)"), std::string::npos);
}

TEST_F(Doctor, LooksAtTheEndpointsOfTheConfiguration) {
  WriteFile(dir_ / "pool.toml", "[broker]\nclients = [\"ipc://" + (dir_ / "c").string() +
                                    "\"]\nworkers = [\"ipc://" + (dir_ / "none" / "w").string() + "\"]\n");
  const Report report = Run({"--config", dir_ / "pool.toml"});
  ASSERT_EQ(report.checks.at("endpoint").size(), 2u) << report.text;
  EXPECT_TRUE(report.checks.at("endpoint")[0]["what"].get<std::string>().ends_with("/c: free"));
  EXPECT_EQ(report.checks.at("endpoint")[1]["verdict"], "warn");
}

TEST_F(Doctor, SaysThatProgramsAreMissing) {
  std::filesystem::create_directory(dir_ / "bin");
  std::filesystem::copy_file(Binary("skerry"), dir_ / "bin" / "skerry");
  const Report report = Run({}, dir_ / "bin");
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_EQ(Verdict(report, "cell"), "fail");
  EXPECT_EQ(Verdict(report, "broker_configuration"), "fail");
  EXPECT_EQ(Verdict(report, "sandbox"), "fail");
  EXPECT_EQ(Verdict(report, "job"), "fail");
}

TEST_F(Doctor, DoesNotHangWithAProgramThatDoes) {
  std::filesystem::create_directory(dir_ / "bin");
  std::filesystem::copy_file(Binary("skerry"), dir_ / "bin" / "skerry");
  for (const char* program : {"skerry-cell", "skerry-broker"}) {
    const std::string path = dir_ / "bin" / program;
    WriteFile(path, "#!/bin/sh\nexec sleep 100\n");
    chmod(path.c_str(), 0755);
  }
  const Report report = Run({}, dir_ / "bin");
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_EQ(report.checks.at("cell")[0]["what"], "did not end in time");
}

}  // namespace
}  // namespace skerry::testing
