#include "common/config/load.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace skerry::config {
namespace {

struct Process {
  TextList clients;
  std::uint64_t queued = 100;
  std::uint32_t tries = 5;
  std::optional<std::uint64_t> cores;
  Millis beat{1'000};
  Bytes size = Bytes::MiB(64);
  bool wasm = false;
  std::string jit = "maglev";
  std::string name;
  Ceilings ceilings;
  TextList libraries;
};

class Loading : public ::testing::Test {
 protected:
  Loading() {
    std::string pattern = "/tmp/skerry-load-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    settings_.List("clients", process_.clients, "endpoints").Needed();
    settings_.Number("max_queued", process_.queued, {1, 1000}, "jobs that wait");
    settings_.Number("tries", process_.tries, {0, 9}, "tries");
    settings_.Number("cores", process_.cores, {1, 64}, "cores").DefaultText("all");
    settings_.Duration("heartbeat_ms", process_.beat, {10, 60'000}, "beat");
    settings_.Size("backlog_mib", process_.size, {1, 4096}, "backlog");
    settings_.Switch("allow_wasm", process_.wasm, "wasm");
    settings_.Choice("jit", process_.jit, {"full", "maglev", "none"}, "compilers");
    settings_.Text("name", process_.name, {0, 10}, "name");
    settings_.CeilingsOf(process_.ceilings);
    settings_.Files("libraries", "--library", process_.libraries, "libraries");
    inputs_.places = {folder_ / "skerry.toml", folder_ / "etc.toml"};
  }
  ~Loading() override { std::filesystem::remove_all(folder_); }

  void File(const std::string& text, const std::string& name = "skerry.toml") {
    std::ofstream(folder_ / name) << text;
  }
  /// Every fault, without the test's folder.
  std::vector<std::string> Faults() {
    std::vector<std::string> faults = Load(settings_, inputs_).faults;
    for (std::string& fault : faults) {
      for (const std::string folder = folder_.string() + "/"; fault.find(folder) != std::string::npos;) {
        fault.erase(fault.find(folder), folder.size());
      }
    }
    return faults;
  }

  std::filesystem::path folder_;
  Process process_;
  Settings settings_{"broker"};
  Inputs inputs_;
};

using Lines = std::vector<std::string>;

TEST_F(Loading, WithoutAnySourceLeavesTheDefaults) {
  const Loaded loaded = Load(settings_, inputs_);
  EXPECT_TRUE(loaded.faults.empty());
  EXPECT_TRUE(loaded.file.empty());
  EXPECT_EQ(process_.queued, 100u);
  EXPECT_FALSE(settings_.IsGiven("max_queued"));
}

TEST_F(Loading, PrefersFlagsToVariablesToTheFile) {
  File("[broker]\nmax_queued = 1\ntries = 1\ncores = 1\n");
  inputs_.environment = {{"SKERRY_BROKER_MAX_QUEUED", "2"}, {"SKERRY_BROKER_TRIES", "2"}};
  inputs_.flags = {{"--max-queued", {"3"}}};
  EXPECT_EQ(Faults(), Lines{});
  EXPECT_EQ(process_.queued, 3u);
  EXPECT_EQ(process_.tries, 2u);
  EXPECT_EQ(process_.cores, 1u);
  EXPECT_EQ(settings_.At("max_queued").source().text, "flag");
  EXPECT_EQ(settings_.At("tries").source().text, "SKERRY_BROKER_TRIES");
  EXPECT_TRUE(settings_.At("cores").source().text.ends_with("skerry.toml:4"));
}

TEST_F(Loading, FillsEveryKindOfSettingFromAFile) {
  File(
      "[broker]\nclients = [\"ipc:///a\", \"ipc:///b\"]\nheartbeat_ms = 20\nbacklog_mib = 2\n"
      "allow_wasm = true\njit = \"none\"\nname = \"n\"\nceilings.memoryMb = 512\n");
  EXPECT_EQ(Faults(), Lines{});
  EXPECT_EQ(process_.clients, (TextList{"ipc:///a", "ipc:///b"}));
  EXPECT_EQ(process_.beat, Millis(20));
  EXPECT_EQ(process_.size, Bytes::MiB(2));
  EXPECT_TRUE(process_.wasm);
  EXPECT_EQ(process_.jit, "none");
  EXPECT_EQ(process_.ceilings.Get(LimitId::kMemoryMb), 512u);
}

TEST_F(Loading, FillsEveryKindOfSettingFromVariablesAndFlags) {
  inputs_.environment = {{"SKERRY_BROKER_CLIENTS", "ipc:///a,ipc:///b"},
                         {"SKERRY_BROKER_ALLOW_WASM", "1"},
                         {"SKERRY_BROKER_CEILINGS_TIMEOUT_MS", "7"}};
  inputs_.flags = {{"--ceiling", {"memoryMb=9", "maxDataRequests=0"}}, {"--jit", {"full"}}};
  EXPECT_EQ(Faults(), Lines{});
  EXPECT_EQ(process_.clients.size(), 2u);
  EXPECT_TRUE(process_.wasm);
  EXPECT_EQ(process_.ceilings.Get(LimitId::kTimeoutMs), 7u);
  EXPECT_EQ(process_.ceilings.Get(LimitId::kMemoryMb), 9u);
  EXPECT_EQ(process_.ceilings.Get(LimitId::kMaxDataRequests), 0u);
  EXPECT_EQ(process_.jit, "full");
}

TEST_F(Loading, TellsEveryFaultOfEverySourceAtOnceWithItsPlace) {
  File(
      "[broker]\nmax_queued = \"x\"\ntries = 10\nclients = 3\nallow_wasm = 1\njit = \"turbo\"\n"
      "heartbeat_ms = -5\nbacklog_mib = 1.5\nname = \"01234567890\"\ncores = nan\nheartbet_ms = 1\n");
  inputs_.environment = {{"SKERRY_BROKER_TRIES", "many"}, {"SKERRY_BROKER_TRISE", "1"}};
  inputs_.flags = {{"--max-queued", {"99999999999999999999"}},
                   {"--ceiling", {"memoryMB=1", "timeoutMs=x", "cpuMs"}},
                   {"--jit", {"none", "full"}}};
  EXPECT_EQ(
      Faults(),
      (Lines{
          "skerry.toml:2: broker.max_queued must be a whole number, 1 to 1000, got \"x\"",
          "skerry.toml:3: broker.tries must be a whole number, 0 to 9, got 10",
          "skerry.toml:4: broker.clients must be a list of texts, got 3",
          "skerry.toml:5: broker.allow_wasm must be true or false, got 1",
          "skerry.toml:6: broker.jit must be full, maglev or none, got \"turbo\"",
          "skerry.toml:7: broker.heartbeat_ms must be a whole number, 10 to 60000, got -5",
          "skerry.toml:8: broker.backlog_mib must be a whole number, 1 to 4096, got 1.5",
          "skerry.toml:9: broker.name must be a text of 0 to 10 bytes, got 11 bytes",
          "skerry.toml:10: broker.cores must be a whole number, 1 to 64, got nan",
          "skerry.toml:11: unknown key broker.heartbet_ms; did you mean 'heartbeat_ms'?",
          "SKERRY_BROKER_TRIES: must be a whole number, 0 to 9, got \"many\"",
          "SKERRY_BROKER_TRISE: there is no such setting; did you mean 'SKERRY_BROKER_TRIES'?",
          "--max-queued: must be a whole number, 1 to 1000, got \"99999999999999999999\"",
          "--jit: was given 2 times; once is enough",
          "--ceiling memoryMB=1: must be NAME=VALUE with a name such as memoryMb; did you mean 'memoryMb'?",
          "--ceiling timeoutMs: must be a whole number, 1 to 86400000, got \"x\"",
          "--ceiling cpuMs: has no value; say --ceiling cpuMs=VALUE",
      }));
  EXPECT_EQ(process_.queued, 100u) << "a faulty value was taken";
}

TEST_F(Loading, OverriddenFaultsAreToldToo) {
  File("[broker]\nmax_queued = 0\n");
  inputs_.flags = {{"--max-queued", {"5"}}};
  EXPECT_EQ(Faults(), Lines{"skerry.toml:2: broker.max_queued must be a whole number, 1 to 1000, got 0"});
}

TEST_F(Loading, ChecksItsOwnTableAndTheNamesOfTheOthers) {
  File("loose = 1\n[worker]\nanything = 1\n[client]\n[brokr]\nx = 1\n[broker.celings]\nmemoryMb = 1\n");
  EXPECT_EQ(
      Faults(),
      (Lines{
          "skerry.toml:1: unknown key loose; there are [broker], [worker], [client] and [libraries]",
          "skerry.toml:5: unknown table [brokr]; there are [broker], [worker], [client] and [libraries]; "
          "did you mean 'broker'?",
          "skerry.toml:7: unknown table [broker.celings]",
          "skerry.toml:8: unknown key broker.celings.memoryMb; did you mean 'ceilings.memoryMb'?",
      }));
}

TEST_F(Loading, ATableThatIsNoneIsAFault) {
  File("broker = 1\n");
  EXPECT_EQ(Faults(), Lines{"skerry.toml:1: broker must be a table"});
  File("[[broker]]\nmax_queued = 1\n");
  EXPECT_EQ(Faults(), Lines{"skerry.toml:1: broker must be a table"});
  File("[broker.max_queued]\nx = 1\n");
  EXPECT_EQ(Faults().front(),
            "skerry.toml:1: broker.max_queued must be a whole number, 1 to 1000, got a table");
}

TEST_F(Loading, TakesTheFileOfTheFlagThenOfTheVariableThenTheFirstPlaceThatHasOne) {
  File("[broker]\ntries = 1\n", "etc.toml");
  EXPECT_EQ(Load(settings_, inputs_).file, folder_ / "etc.toml");
  File("[broker]\ntries = 2\n");
  EXPECT_EQ(Load(settings_, inputs_).file, folder_ / "skerry.toml");
  File("[broker]\ntries = 3\n", "named.toml");
  inputs_.environment = {{"SKERRY_CONFIG", folder_ / "named.toml"}};
  Faults();
  EXPECT_EQ(process_.tries, 3u);
  inputs_.config_flag = folder_ / "etc.toml";
  Faults();
  EXPECT_EQ(process_.tries, 1u);
}

TEST_F(Loading, ReadsNoFileWhereItsNameIsEmpty) {
  File("[broker]\ntries = 10\n");
  inputs_.config_flag = "";
  EXPECT_EQ(Faults(), Lines{});
}

TEST_F(Loading, ANamedFileThatIsNotThereIsAFault) {
  inputs_.config_flag = folder_ / "missing.toml";
  EXPECT_EQ(Faults(), Lines{"missing.toml: cannot be read: No such file or directory"});
}

TEST_F(Loading, WhatIsNeededAndMissingIsSaidOnce) {
  Loaded loaded = Load(settings_, inputs_);
  RequireNeeded(settings_, loaded);
  EXPECT_EQ(loaded.faults,
            Lines{"broker.clients must be given: --clients, SKERRY_BROKER_CLIENTS, or clients in [broker] of "
                  "skerry.toml"});
  inputs_.environment = {{"SKERRY_BROKER_CLIENTS", ""}};
  loaded = Load(settings_, inputs_);
  RequireNeeded(settings_, loaded);
  EXPECT_EQ(loaded.faults, Lines{"SKERRY_BROKER_CLIENTS: must name at least one"});
}

TEST_F(Loading, APartOfATableLeavesTheRestToItsOwner) {
  std::uint64_t queued = 1;
  Settings part("broker", Extent::kPart);
  part.Number("max_queued", queued, {1, 1000}, "jobs");
  File("[broker]\nmax_queued = 7\nwhatever = 1\n[broker.ceilings]\nmemoryMb = 1\n");
  inputs_.environment = {{"SKERRY_BROKER_WHATEVER", "1"}};
  EXPECT_TRUE(Load(part, inputs_).faults.empty());
  EXPECT_EQ(queued, 7u);
}

TEST_F(Loading, FaultsThatSpanSettingsAreToldWhereTheFirstWasGiven) {
  EXPECT_EQ(settings_.Located("tries must be even"), "broker.tries must be even");
  inputs_.environment = {{"SKERRY_BROKER_TRIES", "1"}};
  inputs_.flags = {{"--jit", {"none"}}};
  File("[broker]\nmax_queued = 7\n");
  Faults();
  EXPECT_EQ(settings_.Located("tries must be even"), "SKERRY_BROKER_TRIES: must be even");
  EXPECT_EQ(settings_.Located("--jit: must be fast"), "--jit: must be fast");
  EXPECT_TRUE(
      settings_.Located("max_queued must be odd").ends_with("skerry.toml:2: broker.max_queued must be odd"));
  EXPECT_EQ(settings_.Located("heartbeat must be short"), "broker.heartbeat_ms must be short");
  EXPECT_EQ(settings_.Located("something else"), "something else");
}

TEST_F(Loading, ControlCharactersOfAFileDoNotReachTheTerminal) {
  File("[broker]\n\"a\\u001b[2J\" = 1\n");
  EXPECT_EQ(Faults(), Lines{"skerry.toml:2: unknown key broker.a?[2J"});
}

TEST_F(Loading, AVariableOfATableThatIsNearlyOneIsAFaultAndOthersAreNotOurs) {
  const std::string there_are =
      ": there are SKERRY_BROKER_*, SKERRY_WORKER_* and SKERRY_CLIENT_*; did you mean ";
  inputs_.environment = {{"SKERRY_WORKR_JIT", "x"},  {"SKERRY_BROEKR_TRIES", "x"},
                         {"SKERRY_WORKER_JIT", "x"}, {"SKERRY_DATABASE_URL", "x"},
                         {"SKERRY_CONFIG", ""},      {"SKERRY_WORKR", "x"},
                         {"SKERRY__X", "x"},         {"OTHER_WORKR_JIT", "x"}};
  EXPECT_EQ(Faults(), (Lines{"SKERRY_WORKR_JIT" + there_are + "'WORKER'?",
                             "SKERRY_BROEKR_TRIES" + there_are + "'BROKER'?"}));
}

TEST_F(Loading, AfterAFileThatCannotBeReadNothingIsSaidToBeMissing) {
  File("[broker]\nclients = [\n");
  Loaded broken = Load(settings_, inputs_);
  ASSERT_EQ(broken.faults.size(), 1u);
  RequireNeeded(settings_, broken);
  EXPECT_EQ(broken.faults.size(), 1u) << broken.faults.back();
  inputs_.config_flag = folder_ / "nothere.toml";
  Loaded absent = Load(settings_, inputs_);
  RequireNeeded(settings_, absent);
  EXPECT_EQ(absent.faults.size(), 1u) << absent.faults.back();
}

TEST(DidYouMean, OffersOnlyWhatIsNear) {
  EXPECT_EQ(DidYouMean("max_quued", {"max_queued", "jit"}), "; did you mean 'max_queued'?");
  EXPECT_EQ(DidYouMean("entirely", {"max_queued", "jit"}), "");
  EXPECT_EQ(DidYouMean("xyz", {"jit"}), "");
}

TEST_F(Loading, TakesNoProgramFromAFileThatOnlyLiesInTheCurrentFolder) {
  std::string program;
  settings_.Text("cell", program, {0, 100}, "a program").Guarded();
  File("[broker]\nclients = [\"ipc:///c\"]\ncell = \"/tmp/evil\"\n");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  inputs_.places = {"skerry.toml"};
  const auto found = Faults();
  inputs_.config_flag = "skerry.toml";
  const auto named = Faults();
  std::filesystem::current_path(before);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("skerry.toml:3: broker.cell is not taken")) << found[0];
  EXPECT_TRUE(named.empty());
  EXPECT_EQ(program, "/tmp/evil") << "asked for by name, it is";
}

TEST_F(Loading, ATableOfFilesKeepsItsOrderAndItsPathsAreRelativeToTheFile) {
  File("[broker]\nclients = [\"x\"]\n[libraries]\nz = \"js/z.js\"\n\"@s/a.b\" = \"/abs/a.js\"\n", "c.toml");
  inputs_.config_flag = folder_ / "c.toml";
  EXPECT_EQ(Faults(), TextList{});
  EXPECT_EQ(process_.libraries, (TextList{"z=" + (folder_ / "js/z.js").string(), "@s/a.b=/abs/a.js"}));
  EXPECT_EQ(settings_.At("libraries").source().text, (folder_ / "c.toml").string() + ":4");
  inputs_.environment = {{"SKERRY_BROKER_LIBRARIES", "v=v.js,w=w.js"}};
  EXPECT_EQ(Faults(), TextList{});
  EXPECT_EQ(process_.libraries, (TextList{"v=v.js", "w=w.js"}));
  inputs_.flags["--library"] = {"f=a=b.js"};
  EXPECT_EQ(Faults(), TextList{});
  EXPECT_EQ(process_.libraries, TextList{"f=a=b.js"});
}

TEST_F(Loading, APathInAFileIsRelativeToItAndElsewhereToTheCurrentFolder) {
  std::string path;
  settings_.Text("data", path, {0, 400}, "a file").File();
  File("[broker]\nclients = [\"x\"]\ndata = \"sub/d.json\"\n", "c.toml");
  inputs_.config_flag = folder_ / "c.toml";
  EXPECT_EQ(Faults(), Lines{});
  EXPECT_EQ(path, (folder_ / "sub/d.json").string());
  File("[broker]\nclients = [\"x\"]\ndata = \"/abs/d.json\"\n", "c.toml");
  Faults();
  EXPECT_EQ(path, "/abs/d.json");
  File("[broker]\nclients = [\"x\"]\ndata = \"\"\n", "c.toml");
  Faults();
  EXPECT_EQ(path, "") << "none";
  inputs_.flags["--data"] = {"d.json"};
  Faults();
  EXPECT_EQ(path, "d.json");
}

TEST_F(Loading, FaultsOfATableOfFilesAreAllTold) {
  File("libraries = 3\n", "number.toml");
  inputs_.config_flag = folder_ / "number.toml";
  EXPECT_EQ(Faults(), TextList{"number.toml:1: libraries must be a table"});
  File("[libraries]\na = 3\nb.c = \"x\"\nd = \"\"\ne = \"e.js\"\n[broker]\nlibraries = \"x\"\n", "c.toml");
  inputs_.config_flag = folder_ / "c.toml";
  inputs_.flags["--library"] = {"alone"};
  const std::string must = " must be the path of a file";
  EXPECT_EQ(Faults(), (TextList{"c.toml:2: libraries.a" + must, "c.toml:4: libraries.d" + must,
                                "c.toml:7: unknown key broker.libraries",
                                "--library: must be NAME=PATH, got \"alone\""}));
  for (const char* wrong : {"=x", "x=", ""}) {
    inputs_.flags["--library"] = {wrong};
    EXPECT_EQ(Faults().size(), *wrong == 0 ? 3u : 4u) << wrong;
  }
}

TEST_F(Loading, AFileThatMerelyLiesHereNamesNoOtherFiles) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  File("[libraries]\na = \"a.js\"\n");
  inputs_.places = {"skerry.toml"};
  const auto faults = Faults();
  std::filesystem::current_path(before);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_TRUE(faults[0].starts_with("skerry.toml:2: libraries.a is not taken from a file")) << faults[0];
  EXPECT_TRUE(process_.libraries.empty());
}

}  // namespace
}  // namespace skerry::config
