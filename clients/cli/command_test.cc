// `skerry run` as a process, with a private broker and a fake worker: exit codes, signals, pipes, what is
// left behind.
#include "clients/cli/testing/command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "clients/cpp/testing/processes.h"
#include "common/fd.h"
#include "common/units.h"

namespace skerry::cli {
namespace {

using nlohmann::json;

using testing::ManyJobs;

class Command : public testing::Command {};

TEST_F(Command, RunsAFileAndLeavesNothingBehind) {
  EXPECT_EQ(Run(RunArguments(Jobs(ManyJobs(100, "log hi;echo")))), 0);
  EXPECT_EQ(Results().size(), 100u);
  EXPECT_EQ(ProcessesLeft(), 0);
  EXPECT_FALSE(FolderLeft());
  EXPECT_NE(Text("stderr").find("100 jobs in "), std::string::npos);
  EXPECT_EQ(Text("stderr").find('\r'), std::string::npos) << "a progress bar into a file";
  EXPECT_TRUE(Text("stdout").empty());
}

TEST_F(Command, FailedJobsAreExitOneAndQuietIsQuiet) {
  EXPECT_EQ(Run(RunArguments(Jobs("{\"code\":\"error RUNTIME no\"}\n"), {"--quiet"})), 1);
  EXPECT_TRUE(Text("stderr").empty()) << Text("stderr");
}

TEST_F(Command, AFileOfFaultsKeepsRunningAndEveryLineHasItsResult) {
  EXPECT_EQ(Run(RunArguments(Jobs("{\"id\":\"a\",\"code\":\"echo\"}\nnonsense\n{\"id\":\"b\"}\n"
                                  "{\"id\":\"x\",\"code\":\"echo\",\"limits\":{\"memoryMb\":2000}}\n"
                                  "{\"id\":\"z\",\"code\":\"echo\",\"input\":7}\n"))),
            1);
  auto results = Results();
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(results["2"]["error"]["message"], "line 2: not valid JSON: column 1: unexpected nonsense");
  EXPECT_EQ(results["b"]["error"]["message"], "line 3: code is missing");
  EXPECT_EQ(results["x"]["error"]["limit"], "memoryMb");
  EXPECT_TRUE(results["x"]["error"]["message"].get<std::string>().starts_with("line 4: "));
  EXPECT_EQ(results["z"]["value"], 7);
}

TEST_F(Command, UsageFaultsAreExitTwo) {
  const std::string jobs = Jobs("{\"code\":\"echo\"}\n");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {},
           {"run"},
           {"run", jobs, "--bogus"},
           {"run", folder_ / "missing"},
           {"run", jobs, "--workers", "0"},
           {"run", jobs, "--resume"},
           {"run", jobs, "--data", folder_ / "missing"},
           {"run", jobs, "--broker", "tcp://10.0.0.1:1"},
           {"run", jobs, "--worker-program", folder_ / "none"},
           {"run", jobs, "--worker-program", folder_ / "tmp"},
           {"run", jobs, "--tenant", ""},
           {"run", jobs, "--tenant", std::string(257, 'x')},
           // Found wrong by the private processes that they are passed on to.
           {"run", jobs, "--ceiling", "nonsense=1"},
           {"run", jobs, "--ceiling", "timeoutMs=abc"},
           {"exec", folder_ / "missing"},
           {"exec", folder_ / "."},
           {"exec", jobs, "--input", "{bad"},
       }) {
    EXPECT_EQ(Run(arguments), 2) << (arguments.empty() ? "" : arguments.back());
    EXPECT_FALSE(Text("stderr").empty());
  }
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_EQ(ProcessesLeft(), 0);
}

TEST_F(Command, AnOutputThatIsTheInputIsRefusedBeforeItIsEmptied) {
  const std::string line = "{\"code\":\"echo\"}\n";
  const std::string jobs = Jobs(line);
  std::filesystem::create_hard_link(jobs, folder_ / "same");
  for (const std::string& output : {jobs, std::string(folder_ / "same")}) {
    EXPECT_EQ(Run({"run", jobs, "-o", output}), 2) << output;
  }
  std::ostringstream left;
  left << std::ifstream(jobs).rdbuf();
  EXPECT_EQ(left.str(), line);
}

TEST_F(Command, NoBrokerIsExit69AndTheOldResultsAreStillThere) {
  std::ofstream(out()) << "old\n";
  EXPECT_EQ(
      Run({"run", Jobs("{\"code\":\"echo\"}\n"), "-o", out(), "--broker", "ipc://" + (folder_ / "nobody")}),
      69);
  EXPECT_EQ(Text("out"), "old\n");
  EXPECT_NE(Text("stderr").find("; there is no socket at " + (folder_ / "nobody")), std::string::npos)
      << Text("stderr");
}

TEST_F(Command, AWorkerThatDiesIsExit69WithItsStory) {
  EXPECT_EQ(Run(RunArguments(Jobs("{\"code\":\"die\"}\n"))), 69);
  EXPECT_NE(Text("stderr").find("skerry-fake-worker was killed by signal 9"), std::string::npos)
      << Text("stderr");
  EXPECT_EQ(ProcessesLeft(), 0);
  EXPECT_FALSE(FolderLeft());
}

TEST_F(Command, AWorkerThatCannotStartIsExit69) {
  EXPECT_EQ(Run({"run", Jobs("{\"code\":\"echo\"}\n"), "--worker-program", "/bin/false"}), 69);
  EXPECT_NE(Text("stderr").find("/bin/false exited with status 1"), std::string::npos) << Text("stderr");
  EXPECT_FALSE(FolderLeft());
}

TEST_F(Command, AnInterruptKeepsWholeLinesAndResumeFinishesTheRest) {
  const std::string jobs = Jobs(ManyJobs(400, "sleep 10;echo"));
  const pid_t pid = Start(RunArguments(jobs));
  ASSERT_TRUE(Eventually([&] { return LinesSoFar() >= 20; }));
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid), 130);
  const auto first = Results();
  EXPECT_GE(first.size(), 20u);
  EXPECT_LT(first.size(), 400u);
  for (const auto& [id, result] : first) EXPECT_EQ(result["outcome"], "ok") << id;
  EXPECT_EQ(ProcessesLeft(), 0);
  EXPECT_FALSE(FolderLeft());

  const std::string not_run = std::to_string(400 - first.size());
  EXPECT_NE(Text("stderr").find("skerry: interrupted: " + not_run +
                                " jobs not run; the same command with "
                                "--resume goes on from here\n"),
            std::string::npos)
      << Text("stderr");

  std::ofstream(out(), std::ios::app) << R"({"id":"j399","outc)";  // as if killed while writing
  EXPECT_EQ(Run(RunArguments(jobs, {"--resume"})), 0);
  EXPECT_EQ(Results().size(), 400u);
  EXPECT_EQ(Run(RunArguments(jobs, {"--resume"})), 0);  // nothing left to do
  EXPECT_EQ(Results().size(), 400u);
}

TEST_F(Command, AResumedRunSaysWhyItsStatusIsOne) {
  const std::string jobs = Jobs("{\"id\":\"a\",\"code\":\"error RUNTIME no\"}\n");
  EXPECT_EQ(Run(RunArguments(jobs)), 1);
  EXPECT_EQ(Run(RunArguments(jobs, {"--resume"})), 1);
  EXPECT_NE(Text("stderr").find("resumed: 1 result kept (0 ok, 1 failed, for which the exit status is 1), "
                                "1 job skipped, 0 run again\n"),
            std::string::npos)
      << Text("stderr");
}

TEST_F(Command, AnUnknownCommandIsNamedWithThoseThatThereAre) {
  EXPECT_EQ(Run({"frob"}), 2);
  EXPECT_EQ(Text("stderr"),
            "skerry: no command 'frob'; there are run, exec, up, doctor, keygen, workers, tenants and top; "
            "`skerry --help` says more\n");
  EXPECT_EQ(Run({"exce", "x.js"}), 2);
  EXPECT_NE(Text("stderr").find("no command 'exce'; did you mean 'exec'?; there are"), std::string::npos)
      << Text("stderr");
}

TEST_F(Command, AnUnknownFlagIsNamedWithTheOneThatIsNear) {
  const std::string jobs = Jobs("{\"code\":\"echo\"}\n");
  EXPECT_EQ(Run({"run", jobs, "--isolate", "4", "--frobnicate=1"}), 2);
  EXPECT_EQ(
      Text("stderr"),
      "skerry: no flag --isolate (did you mean '--isolates'?); no flag --frobnicate; `skerry run --help` "
      "lists all\n");
  EXPECT_EQ(Run({"run", jobs, "second.jsonl", "third"}), 2);
  EXPECT_EQ(Text("stderr"), "skerry: not expected: 'second.jsonl', 'third'; `skerry run --help` lists all\n");
}

TEST_F(Command, WhatAPrivateProcessRefusesIsNotFollowedByNoise) {
  EXPECT_EQ(Run({"run", Jobs("{\"code\":\"echo\"}\n"), "--library", "x=" + (folder_ / "none.js")}), 2);
  const std::string told = Text("stderr");
  EXPECT_EQ(
      told.rfind("skerry: nothing was run: what skerry-worker cannot take is above\n"),
      told.size() - std::string("skerry: nothing was run: what skerry-worker cannot take is above\n").size())
      << told;
  EXPECT_EQ(told.find("jobs in"), std::string::npos) << told;
}

TEST_F(Command, KillingItLeavesNoProcess) {
  const pid_t pid = Start(RunArguments(Jobs(ManyJobs(10, "log on;hang"))));
  ASSERT_TRUE(Eventually([&] { return ProcessesLeft() >= 2; }));
  kill(pid, SIGKILL);
  EXPECT_EQ(Wait(pid), -SIGKILL);
  EXPECT_TRUE(Eventually([&] { return ProcessesLeft() == 0; }));
}

TEST_F(Command, JobsFromAPipeAreAnsweredBeforeThePipeEnds) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Fd writer(open(pipe.c_str(), O_RDWR | O_CLOEXEC));
  const pid_t pid = Start(RunArguments("-"), pipe);
  const std::string line = "{\"id\":\"a\",\"code\":\"echo\",\"input\":1}\n";
  ASSERT_EQ(write(writer.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
  EXPECT_TRUE(Eventually([&] { return LinesSoFar() == 1; }));
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid), 130);
}

TEST_F(Command, ResultsGoToStdoutWithoutOutputAndFixturesAnswerHostCalls) {
  std::ofstream(folder_ / "fixtures")
      << R"({"add":{"$value":42,"$delayMs":20},"bad":{"$error":"no such user"}})";
  EXPECT_EQ(Run({"run",
                 Jobs("{\"id\":\"a\",\"code\":\"call add\"}\n{\"id\":\"b\",\"code\":\"call bad\"}\n"
                      "{\"id\":\"x\",\"code\":\"call other\"}\n"),
                 "--data", folder_ / "fixtures", "--worker-program", SKERRY_BIN_DIR "/skerry-fake-worker"}),
            1);
  auto results = Results("stdout");
  EXPECT_EQ(results["a"]["value"], 42);
  EXPECT_EQ(results["b"]["error"]["message"], "no such user");
  EXPECT_EQ(results["x"]["error"]["message"], "no fixture for method 'other'");
}

TEST_F(Command, AFullDiskIsSaidAndEndsTheRun) {
  EXPECT_EQ(Run({"run", Jobs(ManyJobs(10, "echo")), "-o", "/dev/full", "--worker-program",
                 SKERRY_BIN_DIR "/skerry-fake-worker"}),
            74);
  EXPECT_NE(Text("stderr").find("No space left"), std::string::npos);
  EXPECT_EQ(ProcessesLeft(), 0);
}

TEST_F(Command, ExecPrintsTheValueOnStdoutAndTheRestOnStderr) {
  std::ofstream(folder_ / "tool.js") << "log hello \033[2J;status {\"p\":1};echo";
  EXPECT_EQ(Run({"exec", folder_ / "tool.js", "--input", "{\"x\": 1}", "--worker-program",
                 SKERRY_BIN_DIR "/skerry-fake-worker"}),
            0);
  EXPECT_EQ(Text("stdout"), "{\"x\": 1}\n");
  EXPECT_EQ(Text("stderr"), "hello ?[2J\nstatus: {\"p\":1}\n");
  std::ofstream(folder_ / "tool.js") << "error RUNTIME it broke";
  EXPECT_EQ(Run({"exec", folder_ / "tool.js", "--worker-program", SKERRY_BIN_DIR "/skerry-fake-worker"}), 1);
  EXPECT_EQ(Text("stderr"), "Error: it broke\n");
  EXPECT_TRUE(Text("stdout").empty());
}

TEST_F(Command, ExecRunsAProgramOncePerInputOfAFile) {
  std::ofstream(folder_ / "tool.js") << "log hi;echo";
  std::ofstream(folder_ / "inputs") << "1\n\n{\"x\": 2.0}\n";
  const std::vector<std::string> worker = {"--worker-program", SKERRY_BIN_DIR "/skerry-fake-worker"};
  std::vector<std::string> arguments = {"exec", folder_ / "tool.js", "--cases", folder_ / "inputs"};
  arguments.insert(arguments.end(), worker.begin(), worker.end());
  EXPECT_EQ(Run(arguments), 0) << Text("stderr");
  const std::string lines = Text("stdout");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  EXPECT_NE(lines.find(R"({"id":"exec","case":1,"outcome":"ok","value":{"x": 2.0},"error":null,"events":[{)"),
            std::string::npos)
      << lines;
  EXPECT_NE(lines.find(R"({"id":"exec","summary":{"cases":2,"ok":2,)"), std::string::npos) << lines;
  EXPECT_EQ(ProcessesLeft(), 0);

  std::ofstream(folder_ / "tool.js") << "error RUNTIME no";
  arguments.emplace_back("--stop-on-failure");
  EXPECT_EQ(Run(arguments), 1);
  EXPECT_NE(Text("stdout").find(R"("code":"RUNTIME")"), std::string::npos);
}

TEST_F(Command, CasesOfExecThatAnInterruptLeftOverHaveNoLinesAndAreCounted) {
  std::ofstream(folder_ / "tool.js") << "sleep 20;echo";
  std::ofstream inputs(folder_ / "inputs");
  for (int i = 0; i < 400; ++i) inputs << i << "\n";
  inputs.close();
  const pid_t pid = Start({"exec", folder_ / "tool.js", "--cases", folder_ / "inputs", "--worker-program",
                           SKERRY_BIN_DIR "/skerry-fake-worker"});
  ASSERT_TRUE(Eventually([&] { return !Text("stdout").empty(); }));
  kill(pid, SIGINT);
  EXPECT_EQ(Wait(pid), 130);
  const std::string lines = Text("stdout");
  EXPECT_EQ(lines.find("CANCELLED"), std::string::npos) << lines;
  EXPECT_EQ(lines.find("summary"), std::string::npos) << lines;
  const auto done = std::count(lines.begin(), lines.end(), '\n');
  EXPECT_NE(Text("stderr").find("interrupted: " + std::to_string(400 - done) + " cases not run"),
            std::string::npos)
      << Text("stderr");
}

TEST_F(Command, ARateOfTheTenantIsWaitedOut) {
  testing::Processes pool;
  std::ofstream(folder_ / "tenants.toml") << "[default]\nrate = 50\nburst = 5\n";
  pool.StartBroker({"--tenants", folder_ / "tenants.toml"});
  pool.StartWorker(4);
  EXPECT_EQ(Run({"run", Jobs(ManyJobs(40, "echo")), "-o", out(), "--broker", pool.clients()}), 0);
  EXPECT_EQ(Results().size(), 40u);
  EXPECT_NE(Text("stderr").find("40 ok"), std::string::npos) << Text("stderr");
}

TEST_F(Command, InputsThatExecCannotReadAreExitTwoBeforeAnythingRuns) {
  std::ofstream(folder_ / "tool.js") << "echo";
  std::ofstream(folder_ / "bad") << "1\n{bad\n";
  std::ofstream(folder_ / "empty") << "\n";
  std::ofstream(folder_ / "good") << "1\n";
  const std::string tool = folder_ / "tool.js";
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--cases", folder_ / "bad"},
           {"--cases", folder_ / "empty"},
           {"--cases", folder_ / "none"},
           {"--cases", folder_ / "good", "--input", "1"},
           {"--stop-on-failure"},
       }) {
    std::vector<std::string> arguments = {"exec", tool};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(Run(arguments), 2) << more.back();
  }
  EXPECT_EQ(Run({"exec", tool, "--cases", folder_ / "bad"}), 2);
  EXPECT_NE(Text("stderr").find("bad line 2 is not JSON"), std::string::npos) << Text("stderr");
}

}  // namespace
}  // namespace skerry::cli
