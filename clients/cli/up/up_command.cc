#include "clients/cli/up/up_command.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "clients/cli/child_process.h"
#include "clients/cli/exit_codes.h"
#include "clients/cli/interrupt.h"
#include "clients/cli/pool_folder.h"
#include "clients/cli/say.h"
#include "clients/cli/up/first_job.h"
#include "clients/cli/up/supervision.h"
#include "common/endpoint.h"

namespace skerry::cli {
namespace {

// A worker ends its isolates and a broker its sockets well within this.
constexpr Millis kGrace{4'000};
// How often children are looked at.
constexpr Millis kPollInterval{20};
// For two programs to print their configurations; a loaded machine takes a while to load them.
constexpr Millis kCheckTime{10'000};
constexpr Millis kCheckInterval{5};
constexpr Millis kServingInterval{200};
// READY comes within a second or so; past this something is wrong.
constexpr Millis kLongStart{10'000};

class Up {
 public:
  explicit Up(const UpOptions& options) : options_(options), core_(options.workers) {
    workers_.resize(options.workers);
  }

  ~Up() {
    first_job_.reset();
    std::vector<ChildProcess*> workers;
    for (auto& worker : workers_) {
      if (worker) workers.push_back(worker.get());
    }
    StopTogether(workers, kGrace);
    // Last: workers say BYE to it.
    if (broker_) broker_->Stop(kGrace);
    for (const auto* endpoints : {&clients_, &workers_at_}) {
      for (const std::string& endpoint : *endpoints) RemoveSocket(endpoint);
    }
    if (!admin_.empty()) RemoveSocket(admin_);
  }

  int Run() {
    if (auto prepared = Prepare(); !prepared) {
      Say(prepared.error().message);
      return ExitCodeOf(prepared.error());
    }
    int seen = 0;
    for (;;) {
      for (; seen < Interrupts(); ++seen) Do(core_.OnSignal());
      NoticeEnds();
      Do(core_.OnTick(SteadyClock::now()));
      AwaitFirstJob();
      if (exit_) return *exit_;
      const Millis interval = core_.state() == UpState::kServing ? kServingInterval : kPollInterval;
      poll(nullptr, 0, static_cast<int>(interval.count()));  // unlike sleep_for, it ends with a signal
    }
  }

 private:
  Status Prepare() {
    auto binaries = OwnFolder();
    if (!binaries) return Fail(binaries.error());
    binaries_ = *binaries;
    clients_ = options_.client_endpoints;
    workers_at_ = options_.worker_endpoints;
    const bool own_clients = NeedsOwn(clients_);
    const bool own_workers = NeedsOwn(workers_at_);
    admin_ = options_.admin_endpoint;
    if (own_clients || own_workers || admin_.empty()) {
      auto folder = PoolFolder::Make({"XDG_RUNTIME_DIR", "TMPDIR"});
      if (!folder) return Fail(folder.error());
      folder_ = std::move(*folder);
      if (own_clients) clients_.push_back(folder_.Endpoint("clients"));
      if (own_workers) workers_at_.push_back(folder_.Endpoint("workers"));
      if (admin_.empty()) admin_ = folder_.Endpoint("admin");
    }
    for (const auto* endpoints : {&clients_, &workers_at_}) {
      for (const std::string& endpoint : *endpoints) {
        if (auto free = CheckFree(endpoint); !free) return free;
      }
    }
    if (auto configured = CheckConfigurations(); !configured) return configured;
    return StartBroker();
  }

  /// Both say what they think of their settings before either serves, so that one start shows all faults.
  /// What else may be wrong their real start tells.
  Status CheckConfigurations() {
    std::vector<std::pair<std::string, std::vector<std::string>>> programs;
    programs.emplace_back(binaries_ + "/skerry-broker", BrokerArguments());
    // Another program than ours may not know --print-config, and would run.
    if (options_.worker_program.empty())
      programs.emplace_back(binaries_ + "/skerry-worker", WorkerArguments());
    std::vector<ChildProcess> checks;
    for (auto& [program, arguments] : programs) {
      arguments.emplace_back("--print-config");
      auto check = ChildProcess::Start(program, arguments, Surroundings::kInherited, Stdout::kNowhere);
      if (!check) return Fail(check.error());
      checks.push_back(std::move(*check));
    }
    std::string refused = options_.settings == UpOptions::Settings::kFaulty ? "skerry" : "";
    for (const TimePoint until = SteadyClock::now() + kCheckTime; ChildProcess & check : checks) {
      while (!check.Ended() && Interrupts() == 0 && SteadyClock::now() < until) {
        poll(nullptr, 0, static_cast<int>(kCheckInterval.count()));
      }
      if (check.exit_status() != kExitUsage) continue;
      refused += (refused.empty() ? "" : " and ") + check.program().substr(binaries_.size() + 1);
    }
    if (refused.empty()) return {};
    return Fail(ErrorKind::kInvalid, "nothing was started: what " + refused + " cannot take is above");
  }

  static bool IsSocketFile(const std::string& endpoint) { return ReachOf(endpoint) == Reach::kSocketFile; }
  static bool IsLoopback(const std::string& endpoint) { return ReachOf(endpoint) == Reach::kLoopback; }
  bool has_keys() const { return options_.keys == UpOptions::Keys::kGiven; }
  /// Whether this run needs an endpoint in a folder of its own: for want of others, or of one without keys.
  bool NeedsOwn(const std::vector<std::string>& endpoints) const {
    return endpoints.empty() ||
           (has_keys() && std::none_of(endpoints.begin(), endpoints.end(), IsSocketFile));
  }
  /// The one for what this run itself connects.
  const std::string& OwnOf(const std::vector<std::string>& endpoints) const {
    if (!has_keys()) return endpoints.front();
    return *std::find_if(endpoints.begin(), endpoints.end(), IsSocketFile);
  }

  std::vector<std::string> BrokerArguments() const {
    std::vector<std::string> arguments = options_.broker_arguments;
    const bool loopback = std::any_of(clients_.begin(), clients_.end(), IsLoopback) ||
                          std::any_of(workers_at_.begin(), workers_at_.end(), IsLoopback);
    if (loopback && !has_keys()) arguments.emplace_back("--plain-loopback");
    for (const std::string& endpoint : clients_) arguments.insert(arguments.end(), {"--clients", endpoint});
    for (const std::string& endpoint : workers_at_)
      arguments.insert(arguments.end(), {"--workers", endpoint});
    arguments.insert(arguments.end(), {"--admin", admin_});
    return arguments;
  }

  std::vector<std::string> WorkerArguments() const {
    std::vector<std::string> arguments = options_.worker_arguments;
    arguments.insert(arguments.end(), {"--broker", OwnOf(workers_at_)});
    return arguments;
  }

  Status StartBroker() {
    auto child =
        ChildProcess::Start(binaries_ + "/skerry-broker", BrokerArguments(), Surroundings::kInherited);
    if (!child) return Fail(child.error());
    broker_ = std::make_unique<ChildProcess>(std::move(*child));
    return {};
  }

  void StartWorker(std::size_t index) {
    const std::string program =
        options_.worker_program.empty() ? binaries_ + "/skerry-worker" : options_.worker_program;
    auto child = ChildProcess::Start(program, WorkerArguments(), Surroundings::kInherited);
    if (!child) {
      return Do(core_.OnWorkerEnded(index, {child.error().message, kCannotBeRun}, SteadyClock::now()));
    }
    workers_[index] = std::make_unique<ChildProcess>(std::move(*child));
    Do(core_.OnWorkerStarted(index, SteadyClock::now()));
  }

  void NoticeEnds() {
    if (broker_) {
      if (const auto how = broker_->Ended()) {
        const ChildEnd end{*how, broker_->exit_status()};
        broker_.reset();
        Do(core_.OnBrokerEnded(end));
      }
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (!workers_[i]) continue;
      const auto how = workers_[i]->Ended();
      if (!how) continue;
      const ChildEnd end{*how, workers_[i]->exit_status()};
      workers_[i].reset();
      Do(core_.OnWorkerEnded(i, end, SteadyClock::now()));
    }
  }

  void Do(const UpActions& actions) {
    for (const std::string& line : actions.say) Say(line);
    if (actions.exit && !exit_) exit_ = actions.exit;
    if (exit_) {
      // Those that drain are told to hurry; the others get their first word from the destructor.
      for (auto& worker : workers_) {
        if (worker) worker->Urge();
      }
      return;
    }
    for (const std::size_t index : actions.start) StartWorker(index);
    if (!actions.drain) return;
    for (auto& worker : workers_) {
      if (worker) worker->Terminate();
    }
  }

  /// READY is said when a job has really been served.
  void AwaitFirstJob() {
    if (core_.state() != UpState::kStarting || exit_) {
      first_job_.reset();
      return;
    }
    if (!first_job_) first_job_ = std::make_unique<FirstJob>(OwnOf(clients_));
    const auto trial = first_job_->Ended();
    if (!trial) {
      if (!told_waiting_ && SteadyClock::now() - start_ >= kLongStart) {
        told_waiting_ = true;
        Say("not READY yet: a trial job waits for a worker; what the workers say is above");
      }
      return;
    }
    first_job_.reset();
    Do(core_.OnTrialEnded(*trial));
    if (core_.state() != UpState::kServing) return;
    // For whoever reads it by eye, and for scripts that wait for the first line.
    std::printf("READY: jobs are taken on %s\n", clients_.front().c_str());
    // By the endpoint that needs no key, where the broker has keys.
    std::printf("%s/skerry run JOBS.jsonl --broker %s\n", binaries_.c_str(), OwnOf(clients_).c_str());
    std::printf("%s/skerry top --admin %s\n", binaries_.c_str(), admin_.c_str());
    std::fflush(stdout);
  }

  static Status CheckFree(const std::string& endpoint) {
    if (endpoint.ends_with(":*")) {
      return Fail(ErrorKind::kInvalid, endpoint + ": clients must be told a port; name one");
    }
    if (!SomebodyListens(endpoint)) return {};
    return Fail(ErrorKind::kUnavailable, endpoint + " is taken: a process listens there already");
  }

  /// A broker that was killed could not.
  static void RemoveSocket(const std::string& endpoint) {
    constexpr std::string_view kIpc = "ipc://";
    if (!endpoint.starts_with(kIpc) || SomebodyListens(endpoint)) return;
    const std::string path = endpoint.substr(kIpc.size());
    struct stat about {};
    if (lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode)) unlink(path.c_str());
  }

  const UpOptions& options_;
  Supervision core_;
  std::string binaries_;
  PoolFolder folder_;
  std::vector<std::string> clients_;
  std::vector<std::string> workers_at_;
  std::string admin_;
  std::unique_ptr<ChildProcess> broker_;
  std::vector<std::unique_ptr<ChildProcess>> workers_;
  std::unique_ptr<FirstJob> first_job_;
  const TimePoint start_ = SteadyClock::now();
  bool told_waiting_ = false;
  std::optional<int> exit_;
};

}  // namespace

int UpCommand(const UpOptions& options) {
  CatchInterrupts();
  return Up(options).Run();
}

}  // namespace skerry::cli
