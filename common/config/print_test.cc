#include "common/config/print.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "common/config/load.h"

namespace skerry::config {
namespace {

struct Fields {
  std::string text = "plain";
  std::uint64_t number = 7;
  std::optional<std::uint64_t> unset;
  TextList list;
  Ceilings ceilings;
};

void Describe(Settings& settings, Fields& fields) {
  settings.Text("text", fields.text, kAnyText, "words");
  settings.Number("number", fields.number, {1, 9}, "a number").TradeOff("more is slower");
  settings.Number("unset", fields.unset, {1, 9}, "perhaps").DefaultText("2 x cores");
  settings.List("list", fields.list, "several");
  settings.CeilingsOf(fields.ceilings);
}

TEST(Print, SaysWhereEachValueCameFrom) {
  Fields fields;
  Settings settings("client");
  Describe(settings, fields);
  Inputs inputs;
  inputs.places = {};
  inputs.flags = {{"--number", {"8"}}};
  ASSERT_TRUE(Load(settings, inputs).faults.empty());
  const std::string text = EffectiveToml(settings, "");
  EXPECT_TRUE(
      text.starts_with("# no configuration file was read\n[client]\n"
                       "text = \"plain\"                            # default\n"
                       "number = 8                                # flag\n"
                       "# unset is not set  # default: 2 x cores\n"
                       "list = []                                 # default\n"
                       "\n[client.ceilings]\n"
                       "memoryMb = 1024                           # default\n"))
      << text;
}

TEST(Print, SaysWhatMustBeGivenAsAComment) {
  TextList clients;
  Settings settings("broker");
  settings.List("clients", clients, "endpoints").Needed();
  EXPECT_EQ(EffectiveToml(settings, ""),
            "# no configuration file was read\n[broker]\n# clients must be given: --clients, "
            "SKERRY_BROKER_CLIENTS, or clients in [broker] of skerry.toml\n");
  Inputs inputs;
  inputs.places = {};
  inputs.flags = {{"--clients", {"ipc:///c"}}};
  ASSERT_TRUE(Load(settings, inputs).faults.empty());
  EXPECT_NE(EffectiveToml(settings, "").find("clients = [\"ipc:///c\"]"), std::string::npos);
}

TEST(Print, IsReadBackAsTheSame) {
  Fields fields;
  Settings settings("client");
  Describe(settings, fields);
  fields.text = "quote \" slash \\ newline \n tab \t \x01 \x7f ü = # [x]";
  fields.list = {"a,b", "", "c\"d"};
  fields.list.erase(fields.list.begin() + 1);  // an empty text names nothing
  fields.ceilings.Set(LimitId::kMemoryMb, 99);
  const auto parsed = ParseConfig(EffectiveToml(settings, "x\ny"), "printed");
  ASSERT_TRUE(parsed) << parsed.error().message;

  const auto path = std::filesystem::temp_directory_path() / ("skerry-print-" + std::to_string(getpid()));
  std::ofstream(path) << EffectiveToml(settings, "");
  Fields again;
  Settings second("client");
  Describe(second, again);
  Inputs inputs;
  inputs.config_flag = path;
  const Loaded loaded = Load(second, inputs);
  std::filesystem::remove(path);
  EXPECT_EQ(loaded.faults, std::vector<std::string>{});
  EXPECT_EQ(again.text, fields.text);
  EXPECT_EQ(again.list, fields.list);
  EXPECT_EQ(again.unset, std::nullopt);
  EXPECT_EQ(again.ceilings.Get(LimitId::kMemoryMb), 99u);
}

TEST(Print, MakesARowOfReferenceOfEachSetting) {
  Fields fields;
  Settings settings("client");
  Describe(settings, fields);
  const std::string table = ReferenceTable(settings);
  EXPECT_NE(table.find("| `number` | `--number` | `SKERRY_CLIENT_NUMBER` | 7 | 1 to 9 | a number; more is "
                       "slower |\n"),
            std::string::npos)
      << table;
  EXPECT_NE(
      table.find("| `ceilings.memoryMb` | `--ceiling memoryMb=N` | `SKERRY_CLIENT_CEILINGS_MEMORY_MB` |"),
      std::string::npos);
}

TEST(Print, WritesATableOfFilesBehindAllElse) {
  Settings settings("broker");
  Ceilings ceilings;
  TextList files;
  settings.Files("libraries", "--library", files, "a library");
  settings.CeilingsOf(ceilings);
  EXPECT_EQ(EffectiveToml(settings, "").find("libraries"), std::string::npos);
  files = {"lodash=/js/lo\"dash.js", "@a/b.c=x=y"};
  const std::string text = EffectiveToml(settings, "");
  for (const char* line : {"\n[libraries]\n\"lodash\" = \"/js/lo\\\"dash.js\" ", "\n\"@a/b.c\" = \"x=y\" "}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
  EXPECT_GT(text.find("[libraries]"), text.find("[broker.ceilings]"));
  EXPECT_NE(ReferenceTable(settings).find("| `NAME` in `[libraries]` | `--library NAME=PATH` | "),
            std::string::npos);
}

}  // namespace
}  // namespace skerry::config
