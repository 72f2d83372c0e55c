// What operators ask a pool, through real processes: tables that agree with what was run, and drains under
// load.
#include <signal.h>
#include <sys/stat.h>

#include <thread>

#include "tests/support/json.h"
#include "tests/support/pool.h"
#include "tests/support/variable.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;

struct Said {
  int exit = -1;
  std::string out;
  std::string err;
};

class AdminTest : public ::testing::Test {
 protected:
  Said Ask(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Binary("skerry"));
    arguments.insert(arguments.end(), {"--admin", admin_});
    return Command(arguments);
  }
  Said Command(const std::vector<std::string>& argv) {
    const auto out = dir_ / ("out" + std::to_string(++asked_));
    const auto err = dir_ / ("err" + std::to_string(asked_));
    Child child(argv, ChildStreams{.stdout_path = out, .stderr_path = err});
    const int exit = child.Wait(milliseconds(30'000)).value_or(-1);
    return {exit, ReadFile(out), ReadFile(err)};
  }
  std::vector<Json> Rows(const std::vector<std::string>& arguments) {
    auto with_json = arguments;
    with_json.emplace_back("--json");
    const Said said = Ask(with_json);
    EXPECT_EQ(said.exit, 0) << said.err;
    std::vector<Json> rows;
    for (const auto& line : SplitLines(said.out)) rows.push_back(Json::parse(line));
    return rows;
  }
  PoolOptions With(int workers) {
    PoolOptions options;
    options.isolates = 2;
    options.spares = 1;
    options.workers = workers;
    options.broker_args = {"--admin", admin_};
    return options;
  }

  TempDir dir_;
  const std::string admin_ = "ipc://" + (dir_ / "admin").string();
  Variable no_config_{"SKERRY_CONFIG", ""};
  int asked_ = 0;
};

TEST_F(AdminTest, TopAndUsageAgreeWithWhatWasRun) {
  Pool pool(With(1));
  struct stat about {};
  ASSERT_EQ(stat((dir_ / "admin").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);

  std::vector<Job> jobs;
  for (int i = 0; i < 20; ++i)
    jobs.push_back(Job("ok" + std::to_string(i), "return 1").Set("tenant", "acme"));
  for (int i = 0; i < 3; ++i)
    jobs.push_back(Job("bad" + std::to_string(i), "throw new Error('no')").Set("tenant", "acme"));
  jobs.push_back(Job("late", "for(;;);").Limit("timeoutMs", 50).Set("tenant", "other"));
  pool.Run(jobs);

  const auto top = Rows({"top", "--once"});
  ASSERT_EQ(top.size(), 1u);
  const Json& broker = top[0].at("brokers").at(0);
  EXPECT_EQ(broker.at("ok"), 20);
  EXPECT_EQ(broker.at("errors").at("RUNTIME"), 3);
  EXPECT_EQ(broker.at("errors").at("TIMEOUT"), 1);
  EXPECT_EQ(broker.at("trips").at("timeoutMs"), 1);
  EXPECT_EQ(broker.at("queued"), 0);
  EXPECT_EQ(broker.at("workers"), 1);
  EXPECT_GT(top[0].at("okPerSecond"), 0);
  EXPECT_EQ(top[0].at("workers").at(0).at("dispatched"), 24);

  const auto usage = Rows({"tenants", "usage", "acme"});
  ASSERT_EQ(usage.size(), 1u);
  EXPECT_EQ(usage[0].at("accepted"), 23);
  EXPECT_EQ(usage[0].at("ok"), 20);
  EXPECT_EQ(usage[0].at("errors").at("RUNTIME"), 3);
  EXPECT_GT(usage[0].at("cpuUs"), 0);
  EXPECT_EQ(Rows({"tenants", "ls"}).size(), 2u);

  const Said plain = Ask({"top", "--once"});
  EXPECT_EQ(plain.exit, 0);
  EXPECT_EQ(plain.out.find('\x1b'), std::string::npos) << "no terminal, no escape sequence";
  EXPECT_NE(plain.out.find("acme"), std::string::npos);
  EXPECT_NE(Ask({"workers", "ls"}).out.find("serving"), std::string::npos);
}

TEST_F(AdminTest, AWorkerThatIsDrainedUnderLoadFinishesWhatItHasAndGetsNothingMore) {
  Pool pool(With(2));
  while (Rows({"workers", "ls"}).size() < 2) std::this_thread::sleep_for(milliseconds(20));
  std::vector<Job> jobs;
  for (int i = 0; i < 300; ++i) {
    jobs.push_back(Job("j" + std::to_string(i), "const t=Date.now(); while(Date.now()-t<20); return 1")
                       .Limit("timeoutMs", 20'000));
  }
  RunReport report;
  std::thread client([&] { report = pool.Run(jobs); });
  std::string id;
  while (id.empty()) {
    for (const Json& row : Rows({"workers", "ls"})) {
      if (row.at("used") > 0) id = row.at("id").get<std::string>();
    }
  }
  // By the beginning of its id, as a table shows it.
  const auto drained = Rows({"workers", "drain", id.substr(0, 16), "--wait"});
  ASSERT_EQ(drained.size(), 1u);
  EXPECT_EQ(drained[0].at("state"), "drained");
  EXPECT_EQ(drained[0].at("used"), 0);
  const int given = drained[0].at("dispatched");
  client.join();
  for (const Job& job : jobs) EXPECT_TRUE(IsOk(report.At(job.id()), 1)) << job.id();

  int others = 0;
  for (const Json& row : Rows({"workers", "ls"})) {
    if (row.at("id") == id) {
      EXPECT_EQ(row.at("dispatched"), given) << "nothing came after the drain";
    } else {
      others += row.at("dispatched").get<int>();
    }
  }
  EXPECT_EQ(given + others, 300);

  const auto back = Rows({"workers", "drain", "--undo", "--all"});
  EXPECT_EQ(back.size(), 2u);
  for (const Json& row : back) EXPECT_EQ(row.at("state"), "serving");
}

TEST_F(AdminTest, AWorkerOfTwoBrokersIsDrainedAtBothAndOneThatIsKilledHidesNothingOfTheOther) {
  const std::string second_admin = "ipc://" + (dir_ / "admin2").string();
  PoolOptions options = With(0);
  Pool first(options);
  options.broker_args = {"--admin", second_admin};
  Pool second(options);
  const auto log = dir_ / "worker";
  Child worker({Binary("skerry-worker"), "--broker", first.worker_url(), "--broker", second.worker_url(),
                "--isolates", "2", "--spares", "1", "--memory-mb", "2048", "--max-job-memory-mb", "256"},
               ChildStreams{.stdout_path = log, .stderr_path = log});
  const auto of_both = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--admin", second_admin});
    return arguments;
  };
  std::vector<Json> rows;
  for (int tries = 0; tries < 1'000 && rows.size() < 2; ++tries) {
    std::this_thread::sleep_for(milliseconds(20));
    rows = Rows(of_both({"workers", "ls"}));
  }
  ASSERT_EQ(rows.size(), 2u) << ReadFile(log);
  EXPECT_NE(rows[0].at("id"), rows[1].at("id")) << "a session with each";
  EXPECT_NE(rows[0].at("broker"), rows[1].at("broker"));
  EXPECT_NE(Ask(of_both({"top", "--once"})).out.find("workers 1 "), std::string::npos);

  for (const Json& row : rows) {
    const auto drained = Rows(of_both({"workers", "drain", row.at("id").get<std::string>(), "--wait"}));
    ASSERT_EQ(drained.size(), 2u) << row.at("id");
    for (const Json& at : drained) EXPECT_EQ(at.at("state"), "drained");
    for (const Json& at : Rows(of_both({"workers", "drain", "--undo", "worker"})))
      EXPECT_EQ(at.at("state"), "serving");
  }

  second.KillBroker();
  const Said ls = Ask(of_both({"workers", "ls"}));
  EXPECT_EQ(ls.exit, 0) << ls.err;
  EXPECT_NE(ls.out.find("serving"), std::string::npos) << ls.out;
  EXPECT_NE(ls.err.find(second_admin), std::string::npos) << "it is named";
  const auto json = Rows(of_both({"workers", "ls"}));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[1].at("broker"), second_admin);
  EXPECT_TRUE(json[1].contains("away"));
  EXPECT_EQ(Rows(of_both({"top", "--once"})).at(0).at("away").at(0).at("broker"), second_admin);
  EXPECT_EQ(Ask(of_both({"tenants", "ls"})).exit, 0);
  const Said drain = Ask(of_both({"workers", "drain", "worker", "--wait"}));
  EXPECT_EQ(drain.exit, 69) << "one broker may give it jobs";
  EXPECT_NE(drain.out.find("is drained at " + admin_), std::string::npos) << drain.out;
  EXPECT_NE(drain.err.find(second_admin), std::string::npos) << drain.err;
  first.KillBroker();
  EXPECT_EQ(Ask(of_both({"workers", "ls"})).exit, 69);
}

TEST_F(AdminTest, WhatCannotBeAskedIsAnErrorThatSaysWhatToDo) {
  const Said nobody = Ask({"workers", "ls"});
  EXPECT_EQ(nobody.exit, 69);
  EXPECT_NE(nobody.err.find("there is no socket at"), std::string::npos) << nobody.err;
  Pool pool(With(1));
  const Said unknown = Ask({"workers", "drain", "zz"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_NE(unknown.err.find("`skerry workers ls`"), std::string::npos) << unknown.err;
  EXPECT_EQ(Ask({"tenants", "usage", "nobody"}).exit, 2);
  EXPECT_EQ(Ask({"workers", "drain"}).exit, 2);
  const Said none = Command({Binary("skerry"), "workers"});
  EXPECT_EQ(none.exit, 2);
  EXPECT_NE(none.err.find("workers needs ls or drain"), std::string::npos) << none.err;
  // Another socket of the broker is no admin socket.
  const Said wrong = Command({Binary("skerry"), "top", "--once", "--admin", pool.client_url()});
  EXPECT_EQ(wrong.exit, 69);
  EXPECT_NE(wrong.err.find("is it a broker's `admin` socket"), std::string::npos) << wrong.err;
}

TEST_F(AdminTest, APoolThatRunsHereIsFoundWithoutBeingNamed) {
  const auto run = dir_ / "run";
  std::filesystem::create_directory(run);
  Variable runtime("XDG_RUNTIME_DIR", run);
  Child up({Binary("skerry"), "up", "--isolates", "1", "--spares", "1"},
           ChildStreams{.stdout_path = dir_ / "up.out", .stderr_path = dir_ / "up.err"});
  for (int i = 0; i < 1'000 && SplitLines(ReadFile(dir_ / "up.out")).size() < 3; ++i)
    std::this_thread::sleep_for(milliseconds(20));
  const auto lines = SplitLines(ReadFile(dir_ / "up.out"));
  ASSERT_GE(lines.size(), 3u) << ReadFile(dir_ / "up.err");
  constexpr std::string_view kAdmin = "skerry top --admin ";
  ASSERT_NE(lines[2].find(kAdmin), std::string::npos) << lines[2];
  const Said named = Command(
      {Binary("skerry"), "top", "--once", "--admin", lines[2].substr(lines[2].find(kAdmin) + kAdmin.size())});
  EXPECT_EQ(named.exit, 0) << named.err;
  const Said found = Command({Binary("skerry"), "workers", "ls"});
  // Somebody else's pool of this user may run beside the test's.
  EXPECT_TRUE(found.exit == 0 || found.err.find("several pools run here") != std::string::npos) << found.err;
  up.Signal(SIGINT);
  EXPECT_EQ(up.Wait(milliseconds(20'000)), 0);
  EXPECT_TRUE(std::filesystem::is_empty(run));
}

}  // namespace
}  // namespace skerry::testing
