// A machine made of tables: a sound one to begin with; each test breaks one thing.
#pragma once

#include <cerrno>
#include <functional>
#include <map>
#include <set>

#include "clients/cli/doctor/machine.h"

namespace skerry::cli::doctor {

class FakeMachine : public Machine {
 public:
  FakeMachine() {
    files = {
        {"/proc/self/cgroup", "0::/user.slice/me\n"},
        {"/sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n"},
        {"/sys/fs/cgroup/user.slice/me/cgroup.controllers", "cpu memory pids\n"},
        {"/sys/fs/cgroup/user.slice/me/memory.max", "max\n"},
        {"/sys/fs/cgroup/user.slice/me/memory.events", "oom 0\noom_kill 0\n"},
        {"/proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n"},
        {"/proc/sys/vm/overcommit_memory", "0\n"},
        {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
        {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
    };
    limits = {{Resource::kDescriptors, {1024, 524'288}},
              {Resource::kProcesses, {60'000, 60'000}},
              {Resource::kCoreBytes, {0, ResourceLimit::kUnlimited}}};
    answers[Facility::kLandlock] = {0, 4};
    space = {{"/tmp", Bytes::MiB(10'000)}, {"/dev/shm", Bytes::MiB(1'000)}};
    run = [](const std::vector<std::string>& argv) {
      Ran ran;
      ran.status = 0;
      if (argv.back() == "--version") ran.out = "skerry-cell with V8 14.6\n";
      if (argv.back() == "--host-command") ran.out = "/host\n--refused\n";
      if (argv.size() > 1 && argv[1] == "--probe-sandbox")
        ran.out = "namespaces+seccomp (user-namespace seccomp)\nunder --sandbox=strict (default)\n";
      if (argv.front() == "/host") ran.status = 9;
      if (argv.size() > 1 && argv[1] == "exec") ran.out = "42\n";
      return ran;
    };
  }

  std::optional<std::string> ReadFile(const std::string& path) override {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional<std::string>(found->second);
  }
  std::vector<std::string> ListFolder(const std::string& path) override { return folders[path]; }
  std::optional<std::string> ReadLink(const std::string& path) override {
    const auto found = links.find(path);
    return found == links.end() ? std::nullopt : std::optional<std::string>(found->second);
  }
  bool CanWrite(const std::string& path) override { return !read_only.contains(path); }
  bool CanExecute(const std::string& path) override { return !missing_programs.contains(path); }
  std::optional<Bytes> FreeSpace(const std::string& path) override {
    const auto found = space.find(path);
    return found == space.end() ? std::nullopt : std::optional<Bytes>(found->second);
  }
  std::optional<std::string> Variable(const std::string& name) override {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  }
  std::string Architecture() override { return architecture; }
  std::string KernelRelease() override { return kernel; }
  unsigned Cores() override { return cores; }
  unsigned User() override { return 1000; }
  std::int64_t Time() override { return time; }
  ResourceLimit LimitOf(Resource resource) override { return limits[resource]; }
  Answer Try(Facility facility) override { return answers[facility]; }
  Ran Run(const std::vector<std::string>& argv, const std::string&, Millis) override { return run(argv); }

  Result<std::vector<std::string>> Resolve(const std::string& host, Millis) override {
    const auto found = hosts.find(host);
    if (found == hosts.end()) return Fail(ErrorKind::kUnavailable, "cannot be resolved");
    return found->second;
  }
  Status TryHandshake(const keys::LinkSettings& at, keys::Role, Millis) override {
    const auto found = keys_refused.find(at.endpoint + " " + at.key_file + " " + at.broker_key);
    return found == keys_refused.end() ? Status() : Fail(ErrorKind::kUnavailable, found->second);
  }
  Status PingRedis(const std::string& endpoint, const RedisLogin& login, Millis) override {
    const auto found = redis.find(endpoint);
    if (found == redis.end()) return Fail(ErrorKind::kUnavailable, "Connection refused");
    if (found->second != login.user + ":" + login.password)
      return Fail(ErrorKind::kUnavailable, "says WRONGPASS");
    return {};
  }
  std::vector<int> Connect(const std::vector<std::string>& endpoints, Millis) override {
    std::vector<int> errors;
    for (const std::string& endpoint : endpoints)
      errors.push_back(listeners.contains(endpoint) ? 0 : ECONNREFUSED);
    return errors;
  }

  std::map<std::string, std::vector<std::string>> hosts;
  std::set<std::string> listeners;
  std::map<std::string, std::string> redis;         // by endpoint: user:password
  std::map<std::string, std::string> keys_refused;  // by endpoint, key's file and broker's key: why
  std::map<std::string, std::string> files;
  std::map<std::string, std::vector<std::string>> folders;
  std::map<std::string, std::string> links;
  std::map<std::string, bool> read_only;
  std::map<std::string, bool> missing_programs;
  std::map<std::string, Bytes> space;
  std::map<std::string, std::string> variables;
  std::map<Resource, ResourceLimit> limits;
  std::map<Facility, Answer> answers;
  std::function<Ran(const std::vector<std::string>&)> run;
  std::string architecture = "x86_64";
  std::string kernel = "6.1.0-18-amd64";
  unsigned cores = 4;
  std::int64_t time = 1'800'000'000;
};

}  // namespace skerry::cli::doctor
