// docs/configuration.md and ops/skerry.toml say what the programs do.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "broker/settings.h"
#include "clients/cli/settings.h"
#include "common/config/load.h"
#include "common/config/print.h"
#include "worker/agent/settings.h"

namespace skerry {
namespace {

constexpr const char* kReference = SKERRY_SOURCE_ROOT "/docs/configuration.md";
constexpr const char* kExample = SKERRY_SOURCE_ROOT "/ops/skerry.toml";

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The settings of each process with the fields that they fill.
struct Processes {
  Processes() {
    broker::Describe(broker, broker_options);
    agent::Describe(worker, worker_options);
    cli::Describe(client, client_options);
  }
  std::vector<config::Settings*> all() { return {&broker, &worker, &client}; }

  broker::BrokerOptions broker_options;
  agent::AgentOptions worker_options;
  cli::ConnectOptions client_options;
  config::Settings broker{"broker"};
  config::Settings worker{"worker"};
  config::Settings client{"client"};
};

std::vector<std::string> FaultsOf(const std::string& path) {
  Processes processes;
  config::Inputs inputs;
  inputs.config_flag = path;
  config::Loaded loaded = config::Load(processes.all(), inputs);
  for (const config::Settings* settings : processes.all()) config::RequireNeeded(*settings, loaded);
  if (auto valid = processes.broker_options.server.config.Validate(); !valid) {
    loaded.faults.push_back(valid.error().message);
  }
  processes.worker_options.worker.cell_program = "/bin/true";
  auto finished = agent::Finish(processes.worker, processes.worker_options, 4, Bytes::MiB(16'000));
  if (!finished) loaded.faults.push_back(finished.error().message);
  return loaded.faults;
}

using Lines = std::vector<std::string>;

// SKERRY_WRITE_DOCS=1 renews the tables after a deliberate change of the settings.
TEST(ConfigurationReference, IsWhatTheProgramsDeclare) {
  Processes processes;
  const std::string text = ReadAll(kReference);
  std::string expected = text;
  for (const config::Settings* settings : processes.all()) {
    const std::string begin = "<!-- " + settings->table() + " -->\n";
    const std::size_t from = expected.find(begin);
    ASSERT_NE(from, std::string::npos) << begin;
    const std::size_t to = expected.find("<!-- end -->", from);
    ASSERT_NE(to, std::string::npos);
    expected.replace(from + begin.size(), to - from - begin.size(), config::ReferenceTable(*settings));
  }
  if (std::getenv("SKERRY_WRITE_DOCS") != nullptr) {
    std::ofstream(kReference) << expected;
    return;
  }
  EXPECT_EQ(text, expected);
}

TEST(ConfigurationExample, IsSound) {
  EXPECT_EQ(FaultsOf(kExample), Lines{});
}

TEST(ConfigurationExample, IsSoundWithEveryLineInForceToo) {
  const std::string text =
      std::regex_replace(ReadAll(kExample), std::regex("(^|\n)# ([A-Za-z_]+ = )"), "$1$2");
  EXPECT_NE(text, ReadAll(kExample));
  const auto path = std::filesystem::temp_directory_path() / ("skerry-example-" + std::to_string(getpid()));
  std::ofstream(path) << text;
  EXPECT_EQ(FaultsOf(path), Lines{});
  std::filesystem::remove(path);
}

TEST(ConfigurationExample, ShowsDefaultsInItsComments) {
  Processes processes;
  std::string table;
  std::istringstream lines(ReadAll(kExample));
  const std::regex header(R"(\[([a-z.]+)\])");
  const std::regex commented(R"(# ([A-Za-z_]+) = ("?)([^"# ]+)\2 *(# .*)?)");
  int checked = 0;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, header)) table = match[1];
    if (!std::regex_match(line, match, commented) || match[4].matched) continue;  // a note says: computed
    const std::string path = table + "." + match[1].str();
    for (const config::Settings* settings : processes.all()) {
      for (const config::Setting& setting : settings->all()) {
        if (setting.Path() != path) continue;
        EXPECT_EQ(match[3].str(), setting.default_text()) << path;
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 14);
}

TEST(ConfigurationExample, NamesEverySettingButTheCeilings) {
  const std::string example = ReadAll(kExample);
  Processes processes;
  for (const config::Settings* settings : processes.all()) {
    const std::size_t begin = example.find("\n[" + settings->table() + "]\n");
    ASSERT_NE(begin, std::string::npos) << settings->table();
    const std::string table = example.substr(begin, example.find("\n[", begin + 1) - begin);
    for (const config::Setting& setting : settings->all()) {
      if (!setting.flag_item().empty()) continue;
      if (setting.kind() == config::Setting::Kind::kFiles) {
        EXPECT_NE(example.find("\n[" + setting.key() + "]\n"), std::string::npos);
        continue;
      }
      const bool named = table.find("\n" + setting.key() + " = ") != std::string::npos ||
                         table.find("\n# " + setting.key() + " = ") != std::string::npos;
      EXPECT_TRUE(named) << setting.Path();
    }
  }
}

TEST(ConfigurationNames, AreOneForAllProcesses) {
  Processes processes;
  std::set<std::string> variables;
  for (const config::Settings* settings : processes.all()) {
    for (const config::Setting& setting : settings->all()) {
      EXPECT_TRUE(variables.insert(setting.Variable()).second) << setting.Variable();
      EXPECT_FALSE(setting.meaning().empty()) << setting.Path();
      const std::string unit = setting.key().substr(setting.key().rfind('_') + 1);
      if (unit == "ms") {
        EXPECT_NE(setting.meaning().find("ms"), std::string::npos) << setting.Path();
      }
    }
  }
}

TEST(PrintedConfiguration, GivesTheSameAgainForEachProcess) {
  Processes first;
  first.broker_options.server.client_endpoints = {"ipc:///a", "tcp://127.0.0.1:7001"};
  first.broker_options.server.worker_endpoints = {"ipc:///b"};
  first.broker_options.server.config.max_queued = 17;
  first.broker_options.server.config.ceilings.Set(LimitId::kTimeoutMs, 99);
  first.worker_options.worker.brokers = {"ipc:///b"};
  first.worker_options.worker.isolates = 3;
  first.client_options.user = "u \"quoted\"";
  first.client_options.pool.isolates = 5;
  std::string text;
  for (const config::Settings* settings : first.all()) text += config::EffectiveToml(*settings, "");
  // What is computed for a worker is printed by the process itself, after Finish; here it is still 0.
  text = std::regex_replace(text, std::regex("\nmemory_mb = 0 "), "\nmemory_mb = 512 ");
  text = std::regex_replace(text, std::regex("\ncells = 0 "), "\ncells = 1 ");
  const auto path = std::filesystem::temp_directory_path() / ("skerry-printed-" + std::to_string(getpid()));
  std::ofstream(path) << text;
  Processes second;
  config::Inputs inputs;
  inputs.config_flag = path;
  const config::Loaded loaded = config::Load(second.all(), inputs);
  std::filesystem::remove(path);
  EXPECT_EQ(loaded.faults, Lines{});
  EXPECT_EQ(second.broker_options.server.client_endpoints, first.broker_options.server.client_endpoints);
  EXPECT_EQ(second.broker_options.server.config.max_queued, 17u);
  EXPECT_EQ(second.broker_options.server.config.ceilings.Get(LimitId::kTimeoutMs), 99u);
  EXPECT_EQ(second.worker_options.worker.isolates, 3u);
  EXPECT_EQ(second.client_options.user, first.client_options.user);
  EXPECT_EQ(second.client_options.pool.isolates, 5u);
}

}  // namespace
}  // namespace skerry
