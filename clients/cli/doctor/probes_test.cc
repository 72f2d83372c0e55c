#include "clients/cli/doctor/probes.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "clients/cli/doctor/listener.h"
#include "clients/cli/doctor/testing/probes_fixture.h"

namespace skerry::cli::doctor {
namespace {

TEST_F(Probes, FindNothingOnASoundMachine) {
  for (const Finding& finding : All()) EXPECT_EQ(finding.verdict, Verdict::kOk) << LineOf(finding);
}

TEST_F(Probes, RefuseAnotherArchitecture) {
  machine_.architecture = "aarch64";
  EXPECT_COMPLAINT("FAIL  architecture: aarch64", "x86-64");
}

TEST_F(Probes, RefuseAnOldKernelAndTakeNewerMajors) {
  for (const char* old : {"4.19.0", "5.8.18", "3.10.0-1160.el7"}) {
    machine_.kernel = old;
    EXPECT_COMPLAINT("FAIL  kernel", "close_range");
  }
  for (const char* fine : {"5.9.0", "5.10.1", "6.0", "10.1"}) {
    machine_.kernel = fine;
    EXPECT_EQ(ExitStatusOf(All()), 0) << fine;
  }
}

TEST_F(Probes, SayWhichSwitchForbidsNamespaces) {
  machine_.answers[Facility::kNamespaces] = {EPERM, 0};
  EXPECT_COMPLAINT("warn  namespaces: unshare: Operation not permitted", "seccomp profile");
  machine_.files["/proc/sys/user/max_user_namespaces"] = "0\n";
  EXPECT_COMPLAINT("warn  namespaces", "user.max_user_namespaces=");
  machine_.files["/proc/sys/kernel/apparmor_restrict_unprivileged_userns"] = "1\n";
  EXPECT_COMPLAINT("warn  namespaces", "apparmor_restrict_unprivileged_userns=0");
  machine_.files["/proc/sys/kernel/unprivileged_userns_clone"] = "0\n";
  EXPECT_COMPLAINT("warn  namespaces", "unprivileged_userns_clone=1");
}

TEST_F(Probes, RefuseAKernelWithoutACallThatIsNeeded) {
  const std::pair<Facility, std::string> needed[] = {{Facility::kSeccompFilter, "seccomp"},
                                                     {Facility::kPidfdOpen, "pidfd"},
                                                     {Facility::kPidfdClone, "clone"},
                                                     {Facility::kCloseRange, "close_range"}};
  for (const auto& [facility, check] : needed) {
    machine_.answers[facility] = {ENOSYS, 0};
    EXPECT_COMPLAINT("FAIL  " + check + ":", "upgrade the kernel");
    machine_.answers[facility] = {EPERM, 0};
    EXPECT_COMPLAINT("FAIL  " + check + ":", "seccomp profile");
    machine_.answers[facility] = {};
  }
}

TEST_F(Probes, ATrialThatHangsIsAFailure) {
  machine_.answers[Facility::kSeccompFilter] = {ETIMEDOUT, 0};
  EXPECT_COMPLAINT("FAIL  seccomp", "timed out");
}

TEST_F(Probes, ForgiveAMissingClone3AndRefuseAForbiddenOne) {
  machine_.answers[Facility::kClone3] = {ENOSYS, 0};
  EXPECT_EQ(ExitStatusOf(All()), 0);
  machine_.answers[Facility::kClone3] = {EPERM, 0};
  EXPECT_COMPLAINT("FAIL  clone3", "upgrade Docker");
}

TEST_F(Probes, WarnWithoutLandlock) {
  machine_.answers[Facility::kLandlock] = {EOPNOTSUPP, 0};
  EXPECT_COMPLAINT("warn  landlock", "lsm=");
}

TEST_F(Probes, WarnOfASlowClockAndOfAWrongDate) {
  machine_.time = 0;
  EXPECT_COMPLAINT("warn  clock", "NTP");
  machine_.files["/sys/devices/system/clocksource/clocksource0/current_clocksource"] = "hpet\n";
  EXPECT_COMPLAINT("warn  clock", "clocksource=tsc");
}

TEST_F(Probes, TakeTheSmallestMemoryOfMachineAndGroups) {
  machine_.files["/sys/fs/cgroup/user.slice/memory.max"] = "536870912\n";
  EXPECT_COMPLAINT("warn  memory: 512 MiB usable (RAM 16384 MiB, cgroup 512 MiB)", "1 GiB or more");
  machine_.files["/sys/fs/cgroup/user.slice/me/memory.max"] = "104857600\n";
  EXPECT_COMPLAINT("FAIL  memory: 100 MiB usable", "at least 1 GiB");
}

TEST_F(Probes, FindAContainersBoundAtTheMount) {
  machine_.files["/proc/self/cgroup"] = "0::/of/the/host\n";
  machine_.files["/sys/fs/cgroup/memory.max"] = "536870912\n";
  machine_.files["/sys/fs/cgroup/memory.events"] = "oom_kill 0\n";
  EXPECT_COMPLAINT("warn  memory: 512 MiB usable", "");
}

TEST_F(Probes, ReadAGroupOfVersionOneAsTheWorkerDoes) {
  machine_.files["/proc/self/cgroup"] = "5:memory:/x\n1:name=systemd:/\n";
  machine_.files["/sys/fs/cgroup/memory/x/memory.limit_in_bytes"] = "314572800\n";
  machine_.files["/sys/fs/cgroup/memory/x/memory.oom_control"] = "under_oom 0\noom_kill 0\n";
  EXPECT_COMPLAINT("warn  memory: 300 MiB usable (RAM 16384 MiB, cgroup 300 MiB)", "1 GiB or more");
  machine_.files["/sys/fs/cgroup/memory/x/memory.limit_in_bytes"] = "9223372036854771712\n";
  for (const Finding& finding : All()) EXPECT_EQ(finding.verdict, Verdict::kOk) << LineOf(finding);
  EXPECT_EQ(What("cgroup"), "version 1, memory group /x");
  EXPECT_EQ(What("oom_counter"), "own group (cgroup version 1): /sys/fs/cgroup/memory/x/memory.oom_control");
}

TEST_F(Probes, SayWhoseOomKillsAWorkerWillGoBy) {
  EXPECT_EQ(What("oom_counter"), "own group (cgroup version 2): /sys/fs/cgroup/user.slice/me/memory.events");
  machine_.files.erase("/sys/fs/cgroup/user.slice/me/memory.events");
  EXPECT_COMPLAINT("warn  oom_counter: whole machine (/proc/vmstat)", "a control group of their own");
}

TEST_F(Probes, WarnWithoutAnyMemoryGroup) {
  machine_.files["/proc/self/cgroup"] = "1:name=systemd:/\n";
  std::string said;
  for (const Finding& finding : All()) said += LineOf(finding) + "\n";
  EXPECT_NE(said.find("warn  cgroup: none that bounds memory"), std::string::npos) << said;
}

TEST_F(Probes, SurviveAMachineWithoutProc) {
  machine_.files.clear();
  for (const Finding& finding : All()) {
    if (finding.verdict != Verdict::kOk) {
      EXPECT_FALSE(finding.advice.empty()) << LineOf(finding);
    }
  }
}

TEST_F(Probes, WarnOfStrictOvercommit) {
  machine_.files["/proc/sys/vm/overcommit_memory"] = "2\n";
  EXPECT_COMPLAINT("warn  overcommit", "overcommit_memory=0");
}

TEST_F(Probes, WarnWithoutHugePages) {
  machine_.files["/sys/kernel/mm/transparent_hugepage/enabled"] = "always madvise [never]\n";
  EXPECT_COMPLAINT("warn  huge_pages: off", "echo madvise");
}

TEST_F(Probes, MeasureDescriptorsByTheCores) {
  machine_.limits[Resource::kDescriptors] = {256, 4096};
  EXPECT_COMPLAINT("warn  descriptors", "ulimit -n");
  machine_.limits[Resource::kDescriptors] = {1024, 1024};
  EXPECT_EQ(ExitStatusOf(All()), 0);
  machine_.cores = 128;  // 512 isolates and spares
  EXPECT_COMPLAINT("FAIL  descriptors", "LimitNOFILE");
}

TEST_F(Probes, TakeTheSmallestNumberOfProcessesOfUserAndGroup) {
  machine_.limits[Resource::kProcesses] = {50, 50};
  EXPECT_COMPLAINT("warn  processes", "LimitNPROC");
  machine_.files["/sys/fs/cgroup/user.slice/me/pids.max"] = "8\n";
  EXPECT_COMPLAINT("FAIL  processes", "TasksMax");
}

TEST_F(Probes, WarnOfCoreFiles) {
  machine_.limits[Resource::kCoreBytes].soft = ResourceLimit::kUnlimited;
  EXPECT_COMPLAINT("warn  core_files: unlimited", "ulimit -c 0");
}

TEST_F(Probes, LookWhereTmpdirPoints) {
  machine_.variables["TMPDIR"] = "/scratch";
  EXPECT_COMPLAINT("FAIL  temporary_space: /scratch is not there", "TMPDIR");
  machine_.space["/scratch"] = Bytes::MiB(3);
  EXPECT_COMPLAINT("warn  temporary_space: /scratch has 3 MiB free", "free some space");
  machine_.read_only["/scratch"] = true;
  EXPECT_COMPLAINT("FAIL  temporary_space: /scratch is not writable", "TMPDIR");
}

TEST_F(Probes, WarnOfFullSharedMemory) {
  machine_.space["/dev/shm"] = Bytes(0);
  EXPECT_COMPLAINT("warn  shm_space", "empty it");
}

TEST_F(Probes, SayThatTheCellIsMissing) {
  machine_.missing_programs["/opt/bin/skerry-cell"] = true;
  EXPECT_COMPLAINT("FAIL  cell: /opt/bin/skerry-cell is not there", "./dev build");
}

TEST_F(Probes, SayWhatTheCellSaid) {
  machine_.run = [run = machine_.run](const std::vector<std::string>& argv) {
    if (argv.back() != "--version") return run(argv);
    Ran ran;
    ran.status = 78;
    ran.err = "the host is V8 1.2, but this program was compiled against V8 3.4\nmore\n";
    return ran;
  };
  EXPECT_COMPLAINT("FAIL  cell: the host is V8 1.2, but", "./dev build");
}

TEST_F(Probes, RefuseAHostThatRunsWithoutOurObject) {
  machine_.run = [run = machine_.run](const std::vector<std::string>& argv) {
    Ran ran = run(argv);
    if (argv.front() == "/host") {
      ran.status = 0;
      ran.out = "ran\n";
    }
    return ran;
  };
  EXPECT_COMPLAINT("FAIL  preload: the host ran without our object", "do not run jobs here");
}

TEST_F(Probes, AHostThatRanAndThenFailedStillRan) {
  machine_.run = [run = machine_.run](const std::vector<std::string>& argv) {
    Ran ran = run(argv);
    if (argv.front() == "/host") ran.out = "ran\n";
    return ran;
  };
  EXPECT_COMPLAINT("FAIL  preload", "without our object");
}

TEST_F(Probes, SayWhyTheJobDidNotRun) {
  const auto sound = machine_.run;
  const auto exec_gives = [&](Ran ran) {
    machine_.run = [sound, ran](const std::vector<std::string>& argv) {
      return argv.size() > 1 && argv[1] == "exec" ? ran : sound(argv);
    };
  };
  Ran ran;
  ran.timed_out = true;
  exec_gives(ran);
  EXPECT_COMPLAINT("FAIL  job: did not end in time", "--log-level debug");
  ran = {};
  ran.status = 69;
  ran.err = "skerry: skerry-worker exited with status 1\n";
  exec_gives(ran);
  EXPECT_COMPLAINT("FAIL  job: skerry: skerry-worker exited with status 1", "");
  ran = {};
  ran.status = 0;
  ran.out = "43\n";
  exec_gives(ran);
  EXPECT_COMPLAINT("FAIL  job: gave 43", "");
}

class Configured : public Probes {
 protected:
  /// What `program` prints and says with --print-config.
  void Prints(const std::string& program, int status, const std::string& out, const std::string& err) {
    machine_.run = [rest = machine_.run, program, status, out, err](const std::vector<std::string>& argv) {
      if (argv.front() != "/opt/bin/" + program) return rest(argv);
      Ran ran;
      ran.status = status;
      ran.out = out;
      ran.err = err;
      return ran;
    };
  }
  void SetUp() override {
    Prints("skerry-broker", 0, "# read: skerry.toml\n[broker]\nclients = [\"ipc:///run/s/clients\"]\n", "");
    Prints("skerry-worker", 2, "", "skerry-worker: worker.broker must be given: --broker, …\n");
    Prints("skerry", 0, "# no configuration file was read\n[client]\n", "");
    machine_.space["/run/s"] = Bytes::MiB(1);
  }
  std::vector<std::string> Lines() {
    Findings findings;
    ProbeConfiguration(machine_, kInstalled, findings);
    std::vector<std::string> lines;
    for (const Finding& finding : findings)
      lines.push_back(LineOf(finding).substr(0, LineOf(finding).find(" — ")));
    return lines;
  }
};

using Words = std::vector<std::string>;

TEST_F(Configured, TellsFilesAndEndpoints) {
  EXPECT_EQ(Lines(), (Words{"ok    broker_configuration: sound; read: skerry.toml",
                            "ok    worker_configuration: no endpoints are configured",
                            "ok    client_configuration: sound; no configuration file was read",
                            "ok    endpoint: ipc:///run/s/clients: free"}));
}

TEST_F(Configured, TriesEachBrokerOfWorkerAndClient) {
  Prints("skerry-worker", 0,
         "# read: x\n[worker]\nbroker = [\"ipc:///w\", \"tcp://brokers.lan:7\", \"tcp://gone.lan:7\"]\n", "");
  Prints("skerry", 0, "# read: x\n[client]\nbroker = [\"file:/b\", \"file:/none\"]\n", "");
  machine_.hosts["brokers.lan"] = {"10.0.0.1", "fd00::1"};
  machine_.files["/b"] = "tcp://10.0.0.1:8 # ours\n";
  machine_.listeners = {"ipc:///w", "tcp://[fd00::1]:7", "tcp://10.0.0.1:8"};
  const Words lines = Lines();
  EXPECT_EQ(Words(lines.begin() + 4, lines.end()),
            (Words{"warn  worker_brokers: tcp://gone.lan:7: cannot be resolved",
                   "ok    worker_brokers: ipc:///w: somebody listens",
                   "warn  worker_brokers: tcp://10.0.0.1:7: Connection refused",
                   "ok    worker_brokers: tcp://[fd00::1]:7: somebody listens",
                   "warn  client_brokers: file:/none: cannot be read",
                   "ok    client_brokers: tcp://10.0.0.1:8: somebody listens"}));
}

TEST_F(Configured, TellsEveryFault) {
  Prints(
      "skerry-worker", 2, "",
      "skerry-worker: skerry.toml:3: worker.isolates must be a whole number\nskerry-worker: SKERRY_WORKER_X: "
      "there is no such setting\nskerry-worker: worker.broker must be given: …\n");
  const Words lines = Lines();
  EXPECT_EQ(lines.at(1),
            "FAIL  worker_configuration: skerry-worker: skerry.toml:3: worker.isolates must be a "
            "whole number");
  EXPECT_EQ(lines.at(2),
            "FAIL  worker_configuration: skerry-worker: SKERRY_WORKER_X: there is no such setting");
  EXPECT_EQ(lines.size(), 5u);
}

TEST_F(Configured, TellsOfAProgramThatCannotBeRun) {
  Prints("skerry-broker", 127, "", "");
  EXPECT_EQ(Lines().at(0), "FAIL  broker_configuration: /opt/bin/skerry-broker cannot be run");
}

TEST_F(Configured, KnowsItsOwnBrokerFromAStranger) {
  machine_.files["/proc/net/unix"] =
      "Num RefCount Protocol Flags Type St Inode Path\n"
      "0000: 00000003 00000000 00000000 0001 03 776 /run/s/clients\n"
      "0000: 00000002 00000000 00010000 0001 01 777 /run/s/clients\n";
  machine_.folders["/proc"] = {"self", "41", "42"};
  machine_.folders["/proc/42/fd"] = {"0", "7"};
  machine_.links["/proc/42/fd/7"] = "socket:[777]";
  machine_.files["/proc/42/comm"] = "skerry-broker\n";
  EXPECT_EQ(Lines().back(), "ok    endpoint: ipc:///run/s/clients: served by skerry-broker (42)");
  machine_.files["/proc/42/comm"] = "nginx\n";
  EXPECT_EQ(Lines().back(), "warn  endpoint: ipc:///run/s/clients: taken by nginx (42)");
  machine_.folders.erase("/proc/42/fd");
  EXPECT_EQ(Lines().back(), "warn  endpoint: ipc:///run/s/clients: taken by a process of another user");
}

TEST_F(Configured, LooksForThePortInBothTables) {
  machine_.files["/proc/net/tcp"] =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:1B59 00000000:0000 01 00000000:00000000 00:00000000 00000000  0  0 11\n";
  EXPECT_FALSE(ListenerOn(machine_, "tcp://127.0.0.1:7001")) << "a connection is not a listener";
  machine_.files["/proc/net/tcp6"] =
      "   0: 00000000000000000000000001000000:1B59 00:0000 0A 00000000:00000000 00:00000000 00000000  0  0 "
      "12\n";
  EXPECT_TRUE(ListenerOn(machine_, "tcp://127.0.0.1:7001"));
  EXPECT_FALSE(ListenerOn(machine_, "tcp://127.0.0.1:7002"));
}

TEST_F(Configured, TellsWhichBrokersLetItsKeyIn) {
  Prints("skerry-worker", 0,
         "# read: x\n[worker]\nbroker = [\"tcp://10.0.0.1:7\", \"tcp://10.0.0.2:7\"]\nkey = "
         "\"/k\"\nbroker_key = \"theirs\"\n",
         "");
  Prints("skerry", 0, "# read: x\n[client]\nbroker = \"tcp://127.0.0.1:8\"\n", "");
  machine_.listeners = {"tcp://10.0.0.1:7", "tcp://10.0.0.2:7", "tcp://127.0.0.1:8"};
  machine_.keys_refused["tcp://10.0.0.2:7 /k theirs"] = "the broker refuses this key";
  machine_.keys_refused["tcp://127.0.0.1:8  "] = "this endpoint of the broker needs a key";
  const Words lines = Lines();
  EXPECT_EQ(Words(lines.begin() + 4, lines.end()),
            (Words{"ok    worker_brokers: tcp://10.0.0.1:7: lets this key in",
                   "FAIL  worker_brokers: tcp://10.0.0.2:7: the broker refuses this key",
                   "FAIL  client_brokers: tcp://127.0.0.1:8: this endpoint of the broker needs a key"}));
}

TEST_F(Configured, TriesOperatorsKeysAtTheirDoor) {
  Prints("skerry", 0,
         "# read: x\n[client]\nadmin = [\"tcp://10.0.0.1:9\", \"tcp://10.0.0.2:9\", \"ipc:///none/a\", "
         "\"tcp://10.0.0.3:9\"]\nkey = \"/k\"\nadmin_key = \"/a\"\nbroker_key = \"theirs\"\n",
         "");
  machine_.listeners = {"tcp://10.0.0.1:9", "tcp://10.0.0.2:9"};
  machine_.keys_refused["tcp://10.0.0.2:9 /a theirs"] = "admin_key: /a is a key of a client";
  const Words lines = Lines();
  EXPECT_EQ(Words(lines.begin() + 4, lines.end()),
            (Words{"ok    client_admin: tcp://10.0.0.1:9: lets this key in",
                   "FAIL  client_admin: tcp://10.0.0.2:9: admin_key: /a is a key of a client",
                   "warn  client_admin: ipc:///none/a: Connection refused",
                   "warn  client_admin: tcp://10.0.0.3:9: Connection refused"}));
}

TEST_F(Configured, LooksAtTheBrokersAdminEndpoints) {
  Prints("skerry-broker", 0, "# read: x\n[broker]\nadmin = [\"ipc:///run/s/a\", \"ipc:///nonexist/x/a\"]\n",
         "");
  const Words lines = Lines();
  EXPECT_EQ(Words(lines.begin() + 3, lines.end()),
            (Words{"ok    endpoint: ipc:///run/s/a: free",
                   "warn  endpoint: ipc:///nonexist/x/a: the folder /nonexist/x is not there"}));
}

TEST_F(Configured, AsksTheRedisThatRatesAreSharedThrough) {
  const auto with = [&](const std::string& settings) {
    Prints("skerry-broker", 0, "# read: x\n[broker]\n" + settings, "");
    return Lines().back();
  };
  const std::string refused = with("redis = \"127.0.0.1:27055/3\"\n");
  EXPECT_EQ(refused, "warn  redis: 127.0.0.1:27055/3: Connection refused");
  machine_.redis["tcp://127.0.0.1:27055"] = ":";
  EXPECT_EQ(with("redis = \"127.0.0.1:27055/3\"\n"), "ok    redis: 127.0.0.1:27055/3: answers");
  EXPECT_EQ(with("redis = \"redis.lan:1\"\n"), "warn  redis: redis.lan:1: the name has no address");
  machine_.hosts["redis.lan"] = {"fd00::1"};
  machine_.redis["tcp://[fd00::1]:1"] = ":";
  EXPECT_EQ(with("redis = \"redis.lan:1\"\n"), "ok    redis: redis.lan:1: answers");
  machine_.redis["ipc:///run/redis"] = "ada:secret";
  const std::string local = "redis = \"/run/redis\"\nredis_user = \"ada\"\nredis_password_file = \"/p\"\n";
  EXPECT_EQ(with(local), "FAIL  redis: /p: cannot be read");
  machine_.files["/p"] = "\n";
  EXPECT_EQ(with(local), "FAIL  redis: /p: holds no password");
  machine_.files["/p"] = "wrong\n";
  EXPECT_EQ(with(local), "warn  redis: /run/redis: says WRONGPASS");
  machine_.files["/p"] = "secret\n";
  EXPECT_EQ(with(local), "ok    redis: /run/redis: answers");
}

TEST_F(Configured, WarnsOfAFolderThatIsNotThereOrNotOurs) {
  machine_.read_only["/run/s"] = true;
  EXPECT_EQ(Lines().back(), "warn  endpoint: ipc:///run/s/clients: this user may not write to /run/s");
  machine_.space.erase("/run/s");
  EXPECT_EQ(Lines().back(), "warn  endpoint: ipc:///run/s/clients: the folder /run/s is not there");
}

}  // namespace
}  // namespace skerry::cli::doctor
