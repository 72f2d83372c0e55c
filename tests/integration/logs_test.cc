// What the logs of broker and worker hold, and what they never do.
#include "tests/integration/metrics_fixture.h"

namespace skerry::testing {
namespace {

constexpr const char* kMarker = "XYZZYmarkerXYZZY";

PoolOptions Logging(const std::string& level, const std::string& format) {
  const std::vector<std::string> args = {"--log-level", level, "--log-format", format};
  return {.broker_args = args, .worker_args = args};
}

// Everything a user can say: code, names in it, input, console, status, errors, params, methods, answers,
// values.
std::vector<Job> TalkativeJobs() {
  const std::string m = kMarker;
  return {Job("value", "return '" + m + "'+input").Set("input", m),
          Job("console", "console.log('" + m + "');reportStatus({" + m + ":'" + m + "'});return 0"),
          Job("throws", "class " + m + " extends Error{};throw new " + m + "('" + m + "')"),
          Job("compile", "let " + m + " ="),
          Job("rejects", "Promise.reject('" + m + "')"),
          Job("call", "return await dataProxy.request('" + m + "',{a:'" + m + "'})"),
          Job("refused", "return 1//" + m).Limit("maxCodeBytes", 4),
          Job("time", "for(;;)console.log('" + m + "')").Limit("timeoutMs", 100),
          Job("memory", "const a=[];for(;;)a.push('" + m + "'.repeat(1e5)+a.length)").Limit("memoryMb", 16),
          Job("cycle", "const a={" + m + ":1};a.a=a;return a"),
          Job("large", "return '" + m + "'.repeat(1000)").Limit("maxResultBytes", 100)};
}

TEST(Logs, HoldNothingThatAProgramOrItsUserSaysAtAnyLevel) {
  for (const char* format : {"text", "json"}) {
    const Pool pool(Logging("trace", format));
    const auto report = pool.Run(TalkativeJobs(), {.fixtures = Json{{"*", kMarker}}});
    EXPECT_NE(report.At("value").line().find(kMarker), std::string::npos) << "the marker is at work";
    const std::string logs = pool.Logs();
    EXPECT_EQ(logs.find(kMarker), std::string::npos) << logs;
    EXPECT_NE(logs.find("job ended"), std::string::npos) << logs;
  }
}

TEST(Logs, NameJobTenantUserClientWorkerLeaseAndAttemptAsFieldsOfEachJob) {
  const Pool pool(Logging("debug", "json"));
  pool.RunOne(Job("the job", "return 1").Tenant("the tenant").Set("user", "the user"));
  int told = 0;
  for (const std::string& line : SplitLines(pool.Logs())) {
    if (line.find("\"job\":") == std::string::npos) continue;
    const auto json = ParseJson(line.substr(line.find('{')));
    ASSERT_TRUE(json) << line;
    EXPECT_EQ(json->at("job"), "the job");
    EXPECT_EQ(json->at("tenant"), "the tenant");
    EXPECT_EQ(json->at("user"), "the user");
    EXPECT_EQ(json->at("attempt"), 1);
    EXPECT_TRUE(json->at("lease").is_number());
    EXPECT_EQ(json->contains("client") && json->contains("worker"), json->at("process") == "broker") << line;
    ++told;
  }
  EXPECT_EQ(told, 6) << "dispatched and ended, by broker and worker; handed over and started: "
                     << pool.Logs();
}

TEST(Logs, AtInfoSayNothingOfEachJob) {
  const Pool pool(Logging("info", "text"));
  pool.RunOne(Job("quiet", "return 1"));
  EXPECT_EQ(pool.Logs().find("quiet"), std::string::npos) << pool.Logs();
  EXPECT_NE(pool.Logs().find("worker connected"), std::string::npos) << pool.Logs();
}

TEST(Logs, WarnOfEachCellWhoseSandboxIsNotCompleteAndNameWhatItLacks) {
  constexpr const char* kWarning = "a cell's sandbox is not complete, as --sandbox allows";
  PoolOptions open;
  open.worker_args = {"--sandbox", "off"};
  const Pool off(open);
  EXPECT_TRUE(IsOk(off.RunOne(Job("a", "return 1")), 1));
  int warnings = 0;
  for (const std::string& line : SplitLines(off.Logs())) {
    if (line.find(kWarning) == std::string::npos) continue;
    ++warnings;
    EXPECT_NE(line.find("warn"), std::string::npos) << line;
    EXPECT_NE(line.find("missing=\"listed system calls only, no network, no files, no exec"),
              std::string::npos)
        << line;
  }
  EXPECT_EQ(warnings, 1) << off.Logs();
  const Pool strict;
  EXPECT_TRUE(IsOk(strict.RunOne(Job("a", "return 1")), 1));
  EXPECT_EQ(strict.Logs().find(kWarning), std::string::npos) << strict.Logs();
}

TEST(Logs, TellAtTheWorkersStartWhoseOomKillsItGoesBy) {
  const Pool pool(Logging("info", "json"));
  EXPECT_TRUE(IsOk(pool.RunOne(Job("a", "return 1")), 1));
  EXPECT_NE(pool.Logs().find("\"oomKills\":\""), std::string::npos) << pool.Logs();
}

TEST(Logs, AreJsonLineByLineWhateverIdsHold) {
  const Pool pool(Logging("debug", "json"));
  const std::string id = "a {\"message\":\"forged\"} level=error \"\\ \xc3\x9f";
  EXPECT_TRUE(IsOk(pool.RunOne(Job(id, "return 1").Tenant("t job=forged").Set("user", "u=\"1\"")), 1));
  // Refused for its control characters, and told of all the same.
  pool.RunOne(Job("a\n{\"message\":\"forged\"}\x1b[2J", "return 1").Tenant("t\r\nforged"));
  std::size_t lines = 0;
  const std::string logs = pool.Logs();
  for (const std::string& line : SplitLines(logs)) {
    const std::size_t begin = line.find('{');
    if (begin == std::string::npos) continue;  // the headings of Logs()
    const auto json = ParseJson(line.substr(begin));
    ASSERT_TRUE(json) << line;
    EXPECT_TRUE(json->contains("time") && json->contains("level") && json->contains("process")) << line;
    EXPECT_NE(json->at("message"), "forged");
    ++lines;
  }
  EXPECT_GE(lines, 6u);
  EXPECT_EQ(logs.find('\x1b'), std::string::npos);
}

TEST(Logs, OfTextGiveEachLineItsTimeWhateverIdsHold) {
  const Pool pool(Logging("debug", "text"));
  pool.RunOne(Job("a\nerror broker forged\x1b[2J", "return 1").Tenant("t\r\nforged"));
  const std::string logs = pool.Logs();
  for (const std::string& line : SplitLines(logs)) {
    const std::string text = line.starts_with("broker: ")     ? line.substr(8)
                             : line.starts_with("worker 0: ") ? line.substr(10)
                                                              : line;
    EXPECT_TRUE(text.empty() || text.starts_with("20")) << line;
  }
  EXPECT_EQ(logs.find('\x1b'), std::string::npos);
}

TEST(Logs, AFormatThatIsNoneIsAUsageError) {
  for (const char* program : {"skerry-broker", "skerry-worker"}) {
    const std::vector<std::string> ends =
        std::string(program) == "skerry-broker"
            ? std::vector<std::string>{"--clients", "ipc:///tmp/x", "--workers", "ipc:///tmp/y"}
            : std::vector<std::string>{"--broker", "ipc:///tmp/y"};
    std::vector<std::string> argv = {Binary(program), "--log-format", "xml"};
    argv.insert(argv.end(), ends.begin(), ends.end());
    Child child(argv);
    EXPECT_EQ(child.Wait(std::chrono::seconds(5)), 2) << program;
  }
}

}  // namespace
}  // namespace skerry::testing
