// `skerry` as a process, for tests: its arguments, its streams in files, and what it leaves behind.
//
// Threads: the test's main thread. Ownership: removes its folder; the processes it starts are waited for by
// the test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "clients/cpp/testing/test_folder.h"
#include "common/units.h"

namespace skerry::testing {

using nlohmann::json;

/// `skerry` with its streams in files.
class Command : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_ / "tmp"); }

  std::string Jobs(const std::string& text) {
    std::ofstream(folder_ / "jobs") << text;
    return folder_ / "jobs";
  }
  std::string out() const { return folder_ / "out"; }

  pid_t Start(std::vector<std::string> arguments, const std::string& input = "/dev/null") {
    arguments.insert(arguments.begin(), SKERRY_BIN_DIR "/skerry");
    const pid_t pid = fork();
    if (pid != 0) return pid;
    // Private folders of this test only.
    setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    dup2(open(input.c_str(), O_RDWR), STDIN_FILENO);
    dup2(open((folder_ / "stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    dup2(open((folder_ / "stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(126);
  }
  int Wait(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int Run(const std::vector<std::string>& arguments, const std::string& input = "/dev/null") {
    return Wait(Start(arguments, input));
  }
  /// `skerry run` with the fake worker.
  std::vector<std::string> RunArguments(const std::string& jobs, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "run", jobs, "-o", out(), "--worker-program", SKERRY_BIN_DIR "/skerry-fake-worker"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  std::string Text(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  /// Every result line by id; a line that is not JSON or an id that comes twice fails the test.
  std::map<std::string, json> Results(const std::string& name = "out") {
    std::map<std::string, json> results;
    std::istringstream lines(Text(name));
    for (std::string line; std::getline(lines, line);) {
      const json result = json::parse(line, nullptr, false);
      EXPECT_FALSE(result.is_discarded()) << line;
      if (result.is_discarded()) continue;
      EXPECT_TRUE(results.emplace(result["id"], result).second) << "twice: " << line;
    }
    return results;
  }
  std::size_t LinesSoFar() {
    const std::string text = Text("out");
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  template <class Condition>
  bool Eventually(Condition condition) {
    for (const TimePoint until = SteadyClock::now() + Millis(10'000); SteadyClock::now() < until;) {
      if (condition()) return true;
      std::this_thread::sleep_for(Millis(10));
    }
    return false;
  }
  /// Processes that were told of this test's private folders.
  int ProcessesLeft() {
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline", std::ios::binary);
      std::ostringstream text;
      text << file.rdbuf();
      if (text.str().find("ipc://" + (folder_ / "tmp")) != std::string::npos) ++found;
    }
    return found;
  }
  bool FolderLeft() { return !std::filesystem::is_empty(folder_ / "tmp"); }

  TestFolder folder_;
};

inline std::string ManyJobs(int count, const std::string& code) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += R"({"id":"j)" + std::to_string(i) + R"(","code":")" + code + "\"}\n";
  return text;
}

}  // namespace skerry::testing
