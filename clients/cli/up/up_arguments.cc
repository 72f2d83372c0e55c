// `skerry up` on the command line.
//
// What is a setting of the broker or of the worker is checked here and passed on as a flag; variables and the
// file are the children's own to read, but for those that decide where this command listens.
#include <memory>
#include <optional>
#include <string>

#include "clients/cli/commands.h"
#include "clients/cli/pool_folder.h"
#include "clients/cli/up/up_command.h"
#include "common/config/command_line.h"
#include "common/endpoint.h"

namespace skerry::cli {
namespace {

constexpr const char* kExamples =
    "  skerry up                                         sockets in a folder of this run\n"
    "  skerry up --clients ipc:///tmp/pool --isolates 8  an endpoint to remember\n"
    "  skerry up --clients tcp://127.0.0.1:7001 --workers 2 --metrics 127.0.0.1:9464\n"
    "  skerry up --config pool.toml                      [broker] and [worker] of a file\n";

constexpr const char* kAbout =
    "Runs a broker and workers in the foreground, and says READY with the line to paste once a job of the "
    "default\n"
    "limits was served. When that job fails, or a worker ends with an error at its very first start, it says "
    "why and\n"
    "ends (69). Later a worker that dies is started again; when the broker dies, everything ends (69). "
    "Ctrl-C:\n"
    "running jobs finish, then it ends (0); once more: at once (130). Other settings: variables "
    "SKERRY_BROKER_*, "
    "SKERRY_WORKER_*,\nand [broker] and [worker] of skerry.toml; see docs/configuration.md.";

/// What the worker's own checks say more about.
struct WorkerFlags {
  std::optional<std::uint64_t> isolates;
  std::optional<std::uint64_t> spares;
  std::optional<std::uint64_t> memory_mb;
  std::optional<std::uint64_t> max_job_memory_mb;
  std::string jit = "maglev";
  std::string sandbox = "strict";
  config::TextList libraries;
};

void PassOn(const config::Settings& settings, std::vector<std::string>& arguments) {
  for (const config::Setting& setting : settings.all()) {
    if (setting.source().from != config::Source::From::kFlag) continue;
    const auto value = setting.Get();
    if (value && setting.kind() == config::Setting::Kind::kFiles) {
      for (const std::string& file : std::get<config::TextList>(*value)) {
        arguments.insert(arguments.end(), {setting.flag(), file});
      }
    }
    // Endpoints are UpCommand's to pass on.
    if (!value || setting.key() == "admin" || std::holds_alternative<config::TextList>(*value)) continue;
    if (const auto* on = std::get_if<bool>(&*value)) {
      arguments.push_back(setting.flag() + (*on ? "=true" : "=false"));
      continue;
    }
    std::string text;
    if (const auto* number = std::get_if<std::uint64_t>(&*value)) text = std::to_string(*number);
    if (const auto* word = std::get_if<std::string>(&*value)) text = *word;
    if (!setting.flag_item().empty()) text = setting.flag_item() + "=" + text;
    arguments.insert(arguments.end(), {setting.flag(), text});
  }
}

class UpArguments : public Command {
 public:
  explicit UpArguments(CLI::App* app) : Command(app), line_(*app, "skerry") {
    config::SetHelp(*app, {kExamples, kAbout});
    broker_.List("clients", options_.client_endpoints, "endpoints for clients")
        .DefaultText("in a folder of this run, in XDG_RUNTIME_DIR or /tmp")
        .Check(&CheckEndpoint);
    broker_
        .Text("admin", options_.admin_endpoint, config::kAnyText, "ipc:// path for `skerry top` and others")
        .DefaultText("in a folder of this run");
    broker_.List("workers", options_.worker_endpoints, "endpoints for workers").Check(&CheckEndpoint);
    app->add_option("--workers", options_.workers, "workers to start, 1 to 256 (1)")
        ->check(CLI::Range(1, 256))
        ->type_name("N");
    DescribeBroker();
    DescribeWorker();
    app->add_option("--log-level", log_level_,
                    "of all processes: trace, debug, info, warn, error or off (info)")
        ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
        ->type_name("WORD");
    app->add_option("--log-format", log_format_, "of all processes: text or json (text)")
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("WORD");
    app->add_option("--worker-program", options_.worker_program,
                    "the workers' program (skerry-worker beside skerry)")
        ->check(CLI::ExistingFile)
        ->type_name("PATH");
  }

  int Run() override {
    if (const auto status = TellFaults(line_.LoadParts({&broker_, &worker_}))) return *status;
    if (!key_.empty()) options_.keys = UpOptions::Keys::kGiven;
    PassOn(broker_, options_.broker_arguments);
    PassOn(worker_, options_.worker_arguments);
    for (auto* arguments : {&options_.broker_arguments, &options_.worker_arguments}) {
      if (!log_level_.empty()) arguments->insert(arguments->end(), {"--log-level", log_level_});
      if (!log_format_.empty()) arguments->insert(arguments->end(), {"--log-format", log_format_});
      if (const auto file = line_.Collected().config_flag) {
        arguments->insert(arguments->end(), {"--config", *file});
      }
    }
    ShareMemory();
    return UpCommand(options_);
  }

 private:
  /// The exit status, where the broker and workers have nothing to add. Else they find what is wrong with
  /// variables and the file themselves, in tables and keys that this command does not look at, too; of the
  /// flags they get those that are sound.
  std::optional<int> TellFaults(const config::Loaded& loaded) {
    const bool alone = loaded.file_unread || !options_.worker_program.empty();
    for (const std::string& fault : loaded.faults) {
      if (alone || fault.starts_with("--")) config::Complain("skerry", fault);
    }
    if (!loaded.faults.empty()) options_.settings = UpOptions::Settings::kFaulty;
    if (alone && !loaded.faults.empty()) return config::kExitUsage;
    return std::nullopt;
  }
  void DescribeBroker() {
    broker_.Text("metrics", metrics_, config::kAnyText,
                 "HOST:PORT on loopback for /metrics, /livez and /readyz");
    broker_.Switch("allow_wasm", allow_wasm_, "whether jobs may ask for WebAssembly");
    broker_.CeilingsOf(ceilings_);
    broker_.Text("key", key_, config::kAnyText, "file of the broker's secret key, for tcp:// endpoints")
        .File();
    broker_.Text("authorized", authorized_, config::kAnyText, "file of who may connect by TCP").File();
    broker_
        .Text("tenants", tenants_, config::kAnyText,
              "file of what each tenant may have; SIGHUP of the broker reads it again")
        .File();
    // Not its `workers`: here that flag is a number.
    for (const char* key :
         {"clients", "admin", "key", "authorized", "metrics", "tenants", "allow_wasm", "ceilings.memoryMb"}) {
      line_.AddFlag(broker_.At(key));
    }
  }

  void DescribeWorker() {
    worker_.Number("isolates", flags_.isolates, {1, 4096}, "jobs at once per worker")
        .DefaultText("2 x cores");
    worker_.Number("spares", flags_.spares, {0, 4096}, "isolates forked ahead per worker")
        .DefaultText("as isolates, at most 2 x cores");
    worker_.Number("memory_mb", flags_.memory_mb, {1, 1u << 26}, "memory of each worker, MiB")
        .DefaultText("80 % of RAM, shared by the workers");
    worker_
        .Number("max_job_memory_mb", flags_.max_job_memory_mb, {8, 16'384}, "largest memoryMb of a job, MiB")
        .DefaultText("1024");
    worker_.Choice("jit", flags_.jit, {"full", "maglev", "none"}, "V8's compilers");
    worker_
        .Choice("sandbox", flags_.sandbox, {"strict", "best-effort", "off"},
                "what must hold jobs in: strict starts no worker whose sandbox has a hole")
        .Guarded();
    worker_.Files("libraries", "--library", flags_.libraries,
                  "a library (CommonJS) that jobs may name, and its file");
    line_.Add(worker_);
  }

  void ShareMemory() {
    auto& arguments = options_.worker_arguments;
    if (options_.workers > 1 && !flags_.memory_mb) {
      arguments.insert(arguments.end(), {"--memory-mb", std::to_string(SharedMemoryMb(options_.workers))});
    }
    // A ceiling over what cells are made for by default is a wish for larger ones.
    if (broker_.IsGiven("ceilings.memoryMb") && !flags_.max_job_memory_mb) {
      arguments.insert(arguments.end(),
                       {"--max-job-memory-mb", std::to_string(ceilings_.Get(LimitId::kMemoryMb))});
    }
  }

  UpOptions options_;
  std::string metrics_;
  std::string key_;
  std::string authorized_;
  std::string tenants_;
  bool allow_wasm_ = false;
  Ceilings ceilings_;
  WorkerFlags flags_;
  std::string log_level_;
  std::string log_format_;
  config::Settings broker_{"broker", config::Extent::kPart};
  config::Settings worker_{"worker", config::Extent::kPart};
  config::CommandLine line_;
};

}  // namespace

std::unique_ptr<Command> MakeUp(CLI::App& parent) {
  return std::make_unique<UpArguments>(
      parent.add_subcommand("up", "run a broker and workers in the foreground"));
}

}  // namespace skerry::cli
