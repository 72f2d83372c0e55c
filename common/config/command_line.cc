#include "common/config/command_line.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "common/config/print.h"

namespace skerry::config {
namespace {

class ExamplesFirst : public CLI::Formatter {
 public:
  explicit ExamplesFirst(HelpText text) : text_(std::move(text)) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return "Examples:\n" + text_.examples + "\n" + CLI::Formatter::make_help(app, std::move(name), mode);
  }
  std::string make_description(const CLI::App* app) const override {
    return text_.about.empty() ? CLI::Formatter::make_description(app) : text_.about + "\n";
  }

 private:
  HelpText text_;
};

const char* TypeName(const Setting& setting) {
  switch (setting.kind()) {
    case Setting::Kind::kNumber:
      return "N";
    case Setting::Kind::kChoice:
      return "WORD";
    case Setting::Kind::kFiles:
      return "NAME=PATH";
    default:
      return setting.is_file() ? "PATH" : "TEXT";
  }
}

std::string HelpOf(const Setting& setting) {
  if (!setting.flag_item().empty()) return "the most that a job may ask for of a limit, repeatable";
  const std::string range =
      setting.kind() == Setting::Kind::kNumber || setting.kind() == Setting::Kind::kChoice
          ? ", " + setting.RangeText()
          : "";
  const bool many = setting.kind() == Setting::Kind::kList || setting.kind() == Setting::Kind::kFiles;
  const std::string repeatable = many ? ", repeatable" : "";
  return setting.meaning() + range + repeatable + " (" + setting.default_text() + ")";
}

/// CLI11 would list them backwards, and not say what was meant.
int ComplainOfExtras(const CLI::App& app, int argc, char** argv) {
  const auto commands = app.get_subcommands();
  const CLI::App& command = commands.empty() ? app : *commands.front();
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  const std::vector<std::string> extras = app.remaining(true);
  std::string unknown;
  std::string words;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (std::find(extras.begin(), extras.end(), argument) == extras.end()) continue;
    const std::string flag = argument.substr(0, argument.find('='));
    if (flag.starts_with('-') && flag.size() > 1) {
      const std::string meant = DidYouMean(flag, flags);
      unknown += (unknown.empty() ? "" : "; ") + ("no flag " + Shown(flag)) +
                 (meant.empty() ? "" : " (" + meant.substr(2) + ")");
    } else {
      words += (words.empty() ? "'" : ", '") + Shown(argument) + "'";
    }
  }
  const std::string name = commands.empty() ? app.get_name() : app.get_name() + " " + command.get_name();
  // A word behind an unknown flag is most likely its value.
  const std::string fault = unknown.empty() ? "not expected: " + words : unknown;
  return Complain(app.get_name(), fault + "; `" + name + " --help` lists all");
}

}  // namespace

void SetHelp(CLI::App& app, HelpText text) {
  app.formatter(std::make_shared<ExamplesFirst>(std::move(text)));
}

CommandLine::CommandLine(CLI::App& app, std::string program) : app_(app), program_(std::move(program)) {
  config_option_ = app.add_option(kFileFlag, config_,
                                  "FILE to read settings from ($SKERRY_CONFIG, ./skerry.toml or "
                                  "/etc/skerry/skerry.toml); '' for none")
                       ->type_name("FILE");
}

void CommandLine::Add(Settings& settings) {
  for (const Setting& setting : settings.all()) AddFlag(setting);
}

CLI::Option* CommandLine::AddFlag(const Setting& setting) {
  // A family's flag is one option.
  if (CLI::Option* known = app_.get_option_no_throw(setting.flag())) return known;
  if (setting.kind() == Setting::Kind::kSwitch) {
    auto& [flag, text] = switches_.emplace_back(setting.flag(), std::string());
    return app_.add_flag(flag, text, HelpOf(setting));
  }
  auto& [flag, texts] = given_.emplace_back(setting.flag(), std::vector<std::string>());
  CLI::Option* option = app_.add_option(flag, texts, HelpOf(setting));
  // One text each time, so that it never swallows a positional argument.
  option->allow_extra_args(false)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  option->type_name(setting.flag_item().empty() ? TypeName(setting) : "LIMIT=N");
  return option;
}

void CommandLine::AddPrint() {
  app_.add_flag("--print-config", print_,
                "print what is in force, as a skerry.toml with each value's source");
}

Inputs CommandLine::Collected() const {
  Inputs inputs;
  inputs.environment = CurrentEnvironment();
  if (config_option_->count() > 0) inputs.config_flag = config_;
  for (const auto& [flag, texts] : given_) {
    if (!texts.empty()) inputs.flags[flag] = texts;
  }
  for (const auto& [flag, text] : switches_) {
    if (!text.empty()) inputs.flags[flag] = {text};
  }
  return inputs;
}

/// Adds what `finish` complains of; how many that were. Faulty values were not taken, so these are faults of
/// their own, unless the file could not be read: then they may be about values that it changes.
std::size_t CommandLine::AddSpanning(const Settings& settings, const std::function<Status()>& finish,
                                     Loaded& loaded) {
  const std::size_t before = loaded.faults.size();
  const auto sound = finish();
  if (sound || loaded.file_unread) return 0;
  std::string_view rest = sound.error().message;
  while (!rest.empty()) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const Setting* blamed = settings.Blamed(line);
    // RequireNeeded says it.
    if (blamed != nullptr && blamed->needed() && !settings.IsGiven(blamed->key())) continue;
    loaded.faults.push_back(settings.Located(line));
  }
  return loaded.faults.size() - before;
}

Start CommandLine::Tell(const Loaded& loaded) const {
  for (const std::string& fault : loaded.faults) Complain(program_, fault);
  if (!loaded.faults.empty()) return {kExitUsage, loaded.file};
  return {std::nullopt, loaded.file};
}

Start CommandLine::Configure(Settings& settings, const std::function<Status()>& finish) const {
  Loaded loaded = Load(settings, Collected());
  // What is given is in force, whatever else is missing: the comments say what.
  const bool sound_so_far = loaded.faults.empty();
  const std::size_t spanning = AddSpanning(settings, finish, loaded);
  RequireNeeded(settings, loaded);
  Start start = Tell(loaded);
  if (print_ && sound_so_far && spanning == 0) {
    const std::string text = EffectiveToml(settings, loaded.file);
    const bool wrote =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!start.exit || !wrote) start.exit = wrote ? 0 : 74;  // EX_IOERR
  }
  return start;
}

Start CommandLine::ConfigureParts(const std::vector<Settings*>& tables) const {
  return Tell(LoadParts(tables));
}

Loaded CommandLine::LoadParts(const std::vector<Settings*>& tables) const {
  return Load(tables, Collected());
}

int Complain(const std::string& program, const std::string& fault) {
  std::fprintf(stderr, "%s: %s\n", program.c_str(), fault.c_str());
  return kExitUsage;
}

std::optional<int> ParseArguments(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return ComplainOfExtras(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  return std::nullopt;
}

}  // namespace skerry::config
