// `skerry doctor` on the command line.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "clients/cli/child_process.h"
#include "clients/cli/commands.h"
#include "clients/cli/doctor/probes.h"
#include "clients/cli/doctor/real_machine.h"
#include "clients/cli/exit_codes.h"
#include "clients/cli/say.h"
#include "common/config/command_line.h"

namespace skerry::cli {
namespace {

constexpr const char* kExamples =
    "  skerry doctor                                     every check, one line each\n"
    "  skerry doctor --json | jq 'select(.verdict != \"ok\")'\n"
    "  skerry doctor --config /etc/skerry/skerry.toml    with the faults and endpoints of that file\n";

constexpr const char* kAbout =
    "Looks at this machine as Skerry will: the V8 host, the kernel, limits, memory, endpoints, "
    "configuration; and\n"
    "runs one job. It needs no root and changes nothing.\n"
    "Exit status: 0 nothing failed (warnings aside), 1 something did, 2 usage.";

// Five seconds are promised; the last probe gets what those before it have left.
constexpr Millis kWholeTime{4'000};
constexpr Millis kShortestJob{1'000};
constexpr Millis kShortestSandbox{500};

class DoctorArguments : public Command {
 public:
  explicit DoctorArguments(CLI::App* app) : Command(app) {
    config::SetHelp(*app, {kExamples, kAbout});
    app->add_flag("--json", json_, "one JSON object per check");
    config_ = app->add_option("--config", config_file_, "FILE that the processes are to be configured from")
                  ->type_name("FILE");
  }

  int Run() override {
    const auto binaries = OwnFolder();
    if (!binaries) return Complain(binaries.error().message, kExitUnavailable);
    doctor::Installation installation{*binaries, {}};
    if (config_->count() > 0) installation.config_flags = {"--config", config_file_};
    const TimePoint start = SteadyClock::now();
    const auto machine = doctor::RealMachine();
    doctor::Findings findings;
    std::size_t shown = 0;
    // Told as they come: some take a moment.
    const auto show = [&] {
      for (; shown < findings.size(); ++shown) {
        const doctor::Finding& finding = findings[shown];
        std::printf("%s\n", (json_ ? doctor::JsonOf(finding) : doctor::LineOf(finding)).c_str());
      }
      std::fflush(stdout);
    };
    doctor::ProbeKernel(*machine, findings);
    doctor::ProbeMemory(*machine, findings);
    doctor::ProbeResources(*machine, findings);
    show();
    doctor::ProbeCell(*machine, installation, findings);
    doctor::ProbeConfiguration(*machine, installation, findings);
    show();
    const auto left = [&] {
      return kWholeTime - std::chrono::duration_cast<Millis>(SteadyClock::now() - start);
    };
    const std::string sandbox = doctor::ProbeSandbox(
        *machine, installation, std::max(left() - kShortestJob, kShortestSandbox), findings);
    doctor::ProbeJob(*machine, installation, sandbox, std::max(left(), kShortestJob), findings);
    show();
    return doctor::ExitStatusOf(findings);
  }

 private:
  bool json_ = false;
  std::string config_file_;
  CLI::Option* config_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> MakeDoctor(CLI::App& parent) {
  return std::make_unique<DoctorArguments>(
      parent.add_subcommand("doctor", "check this machine and say what to do"));
}

}  // namespace skerry::cli
