// What `./dev install` copies runs without the checkout that it was built in. The checkout's V8 host is
// hidden by an empty file system, in a mount namespace of the command's own: its path is compiled into the
// launcher.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/child.h"
#include "tests/support/places.h"
#include "tests/support/skerry_run.h"
#include "tests/support/variable.h"

namespace skerry::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{20};

class Installed : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(StackIsBuilt());
    if (NodeBinary().empty()) GTEST_SKIP() << "only the node-npm provider has a host binary";
    Child probe({"/usr/bin/unshare", "-rm", "true"});
    if (probe.Wait(kPatience) != 0) GTEST_SKIP() << "user namespaces are denied here: nothing can be hidden";
    Child install(
        {SKERRY_CMAKE, "--install", SKERRY_BUILD_FOLDER, "--prefix", root(), "--component", "skerry"},
        {.stderr_path = dir_ / "install_err"});
    ASSERT_EQ(install.Wait(kPatience), 0) << ReadFile(dir_ / "install_err");
  }

  fs::path root() const { return dir_ / "skerry"; }

  /// `command` of the installation's bin/, where the checkout's host is not to be seen.
  CommandResult RunHidden(const std::string& command, const std::string& stdin_text = {}) {
    const std::string hidden = NodeBinary().parent_path().parent_path();
    WriteFile(dir_ / "in", stdin_text);
    Child child({"/usr/bin/unshare", "-rm", "/bin/sh", "-c",
                 "mount -t tmpfs none \"$1\" && test ! -e \"$2\" || exit 99\nexec \"$3\"/bin/" + command,
                 "sh", hidden, NodeBinary(), root()},
                {.stdin_path = dir_ / "in", .stdout_path = dir_ / "out", .stderr_path = dir_ / "err"});
    CommandResult result;
    result.exit_code = child.Wait(kPatience);
    result.out = ReadFile(dir_ / "out");
    result.err = ReadFile(dir_ / "err");
    return result;
  }

  TempDir dir_;
  Variable no_config_{"SKERRY_CONFIG", ""};
};

TEST_F(Installed, RunsAProgramWithoutTheCheckoutsHost) {
  const auto result = RunHidden("skerry exec -", "return 6 * 7");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "42\n");
  EXPECT_TRUE(fs::exists(NodeBinary())) << "hidden outside of the command's own namespace";
}

TEST_F(Installed, DoctorFindsTheInstalledHostAndTriesThatItFailsClosed) {
  const auto result = RunHidden("skerry doctor");
  for (const char* check : {"cell", "preload", "job"}) {
    EXPECT_NE(result.out.find(std::string("ok    ") + check + ":"), std::string::npos) << result.out;
  }
}

TEST_F(Installed, WithoutAnyHostNothingRunsAndBothPlacesAreNamed) {
  fs::remove(root() / "lib" / "skerry-v8-host");
  const auto result = RunHidden("skerry-cell --version");
  EXPECT_EQ(result.exit_code, 78);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(SplitLines(result.err).size(), 1u) << result.err;
  EXPECT_NE(result.err.find("lib/skerry-v8-host"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(NodeBinary().string()), std::string::npos) << result.err;
}

TEST_F(Installed, HoldsThePoolAndNothingThatOnlyTestsNeed) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root())) {
    if (!entry.is_directory()) files.push_back(fs::relative(entry.path(), root()));
    EXPECT_FALSE(entry.is_symlink()) << entry.path();
  }
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files,
            (std::vector<std::string>{
                "bin/skerry", "bin/skerry-broker", "bin/skerry-cell", "bin/skerry-init", "bin/skerry-worker",
                "lib/skerry-cell.so", "lib/skerry-v8-host", "share/skerry/alerts.yml",
                "share/skerry/scrape.yml", "share/skerry/skerry-v8-host.LICENSE", "share/skerry/skerry.toml",
                "share/skerry/systemd/skerry-broker.service", "share/skerry/systemd/skerry-worker.service",
                "share/skerry/tenants.toml"}));
}

TEST_F(Installed, UnitsNameTheProgramsOfTheirOwnInstallation) {
  for (const std::string name : {"skerry-broker", "skerry-worker"}) {
    const std::string unit = ReadFile(root() / "share" / "skerry" / "systemd" / (name + ".service"));
    EXPECT_NE(unit.find("ExecStart=" + (root() / "bin" / name).string() + " "), std::string::npos) << unit;
    EXPECT_EQ(unit.find("/opt/"), std::string::npos) << unit;
  }
}

}  // namespace
}  // namespace skerry::testing
