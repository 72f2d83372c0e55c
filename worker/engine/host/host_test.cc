// The launcher and the host: whatever is missing or wrong is said in one line, and nothing runs as a Node
// program.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "worker/engine/host/protocol.h"
#include "worker/engine/host/version_check.h"

namespace skerry::engine {
namespace {

namespace fs = std::filesystem;

struct Finished {
  int exit_code = -1;
  std::string output;  ///< stdout and stderr
};

Finished Shell(const std::string& command) {
  Finished finished;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) finished.output += buffer.data();
  const int status = ::pclose(pipe);
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

/// A copy of a launcher in a tree of its own, so that parts of it can be missing.
class LauncherTree {
 public:
  LauncherTree() {
    std::string folder = (fs::temp_directory_path() / "skerry-launcher-XXXXXX").string();
    root_ = ::mkdtemp(folder.data());
    fs::create_directories(root_ / "bin");
    fs::create_directories(root_ / "lib");
    fs::copy_file(SKERRY_LAUNCHER, root_ / "bin" / "launcher");
  }
  ~LauncherTree() { fs::remove_all(root_); }
  fs::path Lib(const std::string& name) const { return root_ / "lib" / name; }
  Finished Run(const std::string& arguments) const {
    return Shell((root_ / "bin" / "launcher").string() + " " + arguments);
  }

 private:
  fs::path root_;
};

TEST(Launcher, StartsTheSharedObjectsMainWithItsArguments) {
  const Finished run =
      Shell(std::string(SKERRY_LAUNCHER) + " --gtest_list_tests --gtest_filter=HostileCorpus.*");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("HostileCorpus."), std::string::npos) << run.output;
}

TEST(Host, RefusesToRunAsNodeWhenThePreloadDidNotTakePlace) {
  const Finished run =
      Shell(std::string(SKERRY_HOST) + " " + kPreloadedOption + " -e 'console.log(\"ran as \" + \"node\")'");
  EXPECT_EQ(run.exit_code, 9) << run.output;
  EXPECT_EQ(run.output.find("ran as node"), std::string::npos) << run.output;
}

TEST(Host, RefusesToRunAsNodeWhenThePreloadIsNotFound) {
  const Finished run = Shell(std::string("LD_PRELOAD=/nowhere/skerry.so ") + SKERRY_HOST + " " +
                             kPreloadedOption + " -e 'console.log(\"ran as \" + \"node\")'");
  EXPECT_EQ(run.exit_code, 9) << run.output;
  EXPECT_EQ(run.output.find("ran as node"), std::string::npos) << run.output;
}

TEST(Host, APreloadWithoutTheLaunchersOptionRunsNothing) {
  const Finished run = Shell("LD_PRELOAD=" SKERRY_LAUNCHED_OBJECT " " SKERRY_HOST " --gtest_list_tests");
  EXPECT_EQ(run.exit_code, kExitBadHost) << run.output;
  EXPECT_EQ(run.output, "this V8 host was not started by its launcher\n");
}

TEST(Launcher, SaysThatItsSharedObjectIsMissing) {
  const LauncherTree tree;
  const Finished run = tree.Run("");
  EXPECT_EQ(run.exit_code, kExitBadHost);
  EXPECT_NE(run.output.find("shared object"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("No such file"), std::string::npos) << run.output;
}

TEST(Launcher, SaysThatTheHostIsNoExecutable) {
  const LauncherTree tree;
  std::ofstream(tree.Lib("skerry-v8-host"))
      << "#!/bin/sh\necho ran something else; exit 0 # padded to an ELF header's size\n";
  const Finished run = tree.Run("");
  EXPECT_EQ(run.exit_code, kExitBadHost);
  EXPECT_NE(run.output.find("it is not an ELF file"), std::string::npos) << run.output;
}

TEST(Launcher, SaysThatTheHostIsOfAnotherArchitecture) {
  const LauncherTree tree;
  std::string header = {'\x7f', 'E', 'L', 'F', 2, 1, 1};
  header.resize(64, '\0');
  header[18] = static_cast<char>(0xb7);  // EM_AARCH64
  std::ofstream(tree.Lib("skerry-v8-host"), std::ios::binary) << header;
  const Finished run = tree.Run("");
  EXPECT_EQ(run.exit_code, kExitBadHost);
  EXPECT_NE(run.output.find("another architecture"), std::string::npos) << run.output;
}

TEST(VersionCheck, AcceptsTheSameVersionWithAnEmbeddersSuffix) {
  EXPECT_EQ(VersionMismatch("14.6.202.34-node.40", "14.6.202.34"), "");
  EXPECT_EQ(VersionMismatch("14.6.202.34", "14.6.202.34"), "");
}

TEST(VersionCheck, RefusesAnyOtherVersionNamingBoth) {
  const std::string why = VersionMismatch("14.6.202.35-node.41", "14.6.202.34");
  EXPECT_NE(why.find("14.6.202.35-node.41"), std::string::npos);
  EXPECT_NE(why.find("14.6.202.34"), std::string::npos);
  EXPECT_EQ(why.find('\n'), std::string::npos);
  EXPECT_NE(VersionMismatch("14.6.202.3", "14.6.202.34"), "");
}

}  // namespace
}  // namespace skerry::engine
