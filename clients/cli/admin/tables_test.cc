#include "clients/cli/admin/tables.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "clients/cli/admin/figures.h"
#include "clients/cli/admin/row_json.h"
#include "clients/cli/admin/terminal_text.h"

namespace skerry::cli {
namespace {

TEST(TerminalText, NoNameCanWriteAnEscapeSequence) {
  EXPECT_EQ(TerminalText("a\x1b[2Jb\r\n\x7f"), "a?[2Jb???");
  EXPECT_EQ(TerminalText("a\xc2\x9b"
                         "2Jb"),
            "a?2Jb")
      << "U+009B is ESC [ to some terminals";
  EXPECT_EQ(TerminalText("a\xc2\x80\xc2\x9f\xc2\xa0z"), "a??\xc2\xa0z") << "both ends of C1, one past it";
  EXPECT_EQ(TerminalText("ab\xe2\x80\xae"
                         "cd"),
            "ab?cd")
      << "turns the direction of writing";
  EXPECT_EQ(TerminalText("a\xe2\x80\x8b"
                         "b\xef\xbb\xbf"),
            "a?b?")
      << "of no width";
  EXPECT_EQ(TerminalText("a\xff"
                         "b\x80"),
            "a?b?")
      << "no UTF-8";
  EXPECT_EQ(TerminalText("\x1b\x80[2J"), "??[2J") << "nor hidden before such a byte";
  EXPECT_EQ(TerminalText("Åsa 世界 🙂"), "Åsa 世界 🙂");
}

TEST(TerminalText, OfJsonIsEscapedAndSaysTheSame) {
  const std::string json = "{\"a\":\"x\xc2\x9b[2J\xe2\x80\xae\xe2\x81\xa0y Åsa 世界 🙂\"}\n";
  const std::string escaped = EscapedJson(json);
  EXPECT_EQ(escaped, "{\"a\":\"x\\u009b[2J\\u202e\\u2060y Åsa 世界 🙂\"}\n");
  EXPECT_EQ(nlohmann::json::parse(escaped), nlohmann::json::parse(json));
}

TEST(TerminalText, IsCutByCharactersAndNeverInsideOne) {
  EXPECT_EQ(CutTo("äöü", 3), "äöü");
  EXPECT_EQ(CutTo("äöüß", 3), "äö…");
  EXPECT_EQ(CutTo("abc", 1), "…");
  EXPECT_EQ(CutTo("abc", 0), "");
}

TEST(TextTable, ColumnsAreAsWideAsTheyNeedAndNoLineIsLongerThanTheTerminal) {
  TextTable table({{"NAME"}, {"N", Align::kRight}, {"LAST"}});
  table.Add({"ä", "1", "x"});
  table.Add({"long one", "1234", ""});
  EXPECT_EQ(table.Lines(TextTable::kAnyWidth),
            (std::vector<std::string>{"NAME         N  LAST", "ä            1  x", "long one  1234"}));
  EXPECT_EQ(table.Lines(8), (std::vector<std::string>{"NAME   …", "ä      …", "long on…"}));
}

TEST(TextTable, OneLongNameDoesNotPushTheOthersAway) {
  TextTable table({{"NAME"}, {"N"}});
  table.Add({std::string(Column().longest, 'x'), "1"});
  table.Add({std::string(Column().longest + 1, 'x'), "2"});
  const auto lines = table.Lines(TextTable::kAnyWidth);
  EXPECT_EQ(lines[1], std::string(Column().longest, 'x') + "  1");
  EXPECT_EQ(lines[2], std::string(Column().longest - 1, 'x') + "…  2");
}

TEST(Figures, AreWhatPeopleRead) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1'023), "1023 B");
  EXPECT_EQ(BytesText(1'536), "1.5 KiB");
  EXPECT_EQ(BytesText(std::uint64_t{20} << 20), "20 MiB");
  EXPECT_EQ(AgeText(119'999), "119s");
  EXPECT_EQ(AgeText(120'000), "2m");
  EXPECT_EQ(AgeText(7'200'000), "2h");
  EXPECT_EQ(AgeText(172'800'000), "2d");
  EXPECT_EQ(SecondsText(1'250'000), "1.25s");
  EXPECT_EQ(SecondsText(3'600'000'000), "3,600s");
  EXPECT_EQ(RateText(0), "0");
  EXPECT_EQ(RateText(12.34), "12.3");
  EXPECT_EQ(RateText(1'240), "1,240");
  EXPECT_EQ(LimitText(0), "-");
  EXPECT_EQ(CountsText({{{"a", 1}, {"b", 5}, {"c", 3}}}, 2), "b 5, c 3, +1");
  EXPECT_EQ(CountsText({}, 2), "-");
}

TEST(Figures, KillsByItsWorkerAreNoCrashes) {
  wire::WorkerRow worker;
  worker.exits.entries = {{"finished", 100}, {"killed_timeout", 5}};
  EXPECT_EQ(CrashesOf(worker), 0u);
  worker.exits.entries.emplace_back("sigsegv", 2);
  EXPECT_EQ(CrashesOf(worker), 2u);
}

TEST(WorkersTable, SaysWhereAWorkerIsAndWhyOneWasCutOff) {
  wire::WorkerRow row;
  row.id = SessionId("0123456789abcdef0");
  row.state = "drained";
  row.slots = 4;
  row.used = 1;
  row.host = "node\x1b-7";
  row.pid = 42;
  row.libraries = {"lodash", "zod"};
  wire::WorkerRow liar;
  liar.id = SessionId("ff");
  liar.state = "cutOff";
  liar.reason = "it lied";
  const auto lines = WorkersTable({{"ipc:///a", row}, {"ipc:///b", liar}}, 1).Lines(TextTable::kAnyWidth);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].find("0123456789abcdef  drained"), 0u) << lines[1];
  EXPECT_NE(lines[1].find("1/4"), std::string::npos);
  EXPECT_NE(lines[1].find("node?-7"), std::string::npos);
  EXPECT_NE(lines[1].find("lodash zod"), std::string::npos);
  EXPECT_NE(lines[2].find("it lied"), std::string::npos);
  EXPECT_EQ(lines[0].find("BROKER"), std::string::npos) << "there is one broker";
  const auto of_two = WorkersTable({{"ipc:///a", row}}, 2).Lines(TextTable::kAnyWidth);
  EXPECT_TRUE(of_two[1].ends_with("ipc:///a")) << of_two[1];
}

TEST(WorkersTable, AnIdThatAKeyGaveANameIsShownBehindThatName) {
  EXPECT_EQ(ShownId(SessionId("rack-1/worker-0123456789")), "rack-1/worker-012345678");
  EXPECT_EQ(ShownId(SessionId("w")), "w");
}

TEST(WorkersTable, AnIdIsShownInFullWhereTwoWorkersWouldLookTheSame) {
  const std::string name = "rack-1/a-very-long-name-of-a-worker";
  std::vector<Of<wire::WorkerRow>> workers(3);
  workers[0].row.id = SessionId(name + "-1d38c50aba7e4251");
  workers[1].row.id = SessionId(name + "-1d38c50aba7e4251-2");
  workers[2].row.id = SessionId("other");
  EXPECT_EQ(ShownIds(workers)[1], "rack-1/a-very-long-name") << "of one worker";
  workers[2].row.id = SessionId(name + "-ffffffffffffffff");
  for (std::size_t i = 0; i < workers.size(); ++i) {
    EXPECT_EQ(ShownIds(workers)[i], workers[i].row.id.str());
    EXPECT_TRUE(
        WorkersTable(workers, 2).Lines(TextTable::kAnyWidth)[i + 1].starts_with(workers[i].row.id.str()));
  }
}

TEST(TenantTables, ShowWhatATenantMayHaveHasAndHasHad) {
  wire::TenantRow row;
  row.name = TenantId("acme");
  row.weight = 4;
  row.queued = 1'234;
  row.max_queued = 5'000;
  row.accepted = 10;
  row.ok = 7;
  row.errors.entries = {{"TIMEOUT", 2}, {"OOM", 1}};
  row.refused.entries = {{"rate", 9}};
  row.cpu_us = 2'500'000;
  const std::string has = TenantsTable({row}).Lines(TextTable::kAnyWidth)[1];
  EXPECT_NE(has.find("1,234  5,000"), std::string::npos) << has;
  EXPECT_TRUE(has.ends_with("rate 9")) << has;
  const std::string had = UsageTable({row}).Lines(TextTable::kAnyWidth)[1];
  EXPECT_NE(had.find("TIMEOUT 2, OOM 1"), std::string::npos) << had;
  EXPECT_NE(had.find("2.50s"), std::string::npos) << had;
  row.name = TenantId();
  EXPECT_EQ(TenantsTable({row}).Lines(TextTable::kAnyWidth)[1].find("(others)"), 0u);
}

TEST(RowJson, HasEveryFieldAndIsOneObjectWhateverNamesSay) {
  wire::TenantRow row;
  row.name = TenantId("a\"b\\c\x01\xc2\x9b");
  row.errors.entries = {{"OOM", 3}};
  std::string text;
  AppendJson(text, row);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("name"), row.name.str());
  EXPECT_EQ(text.find('\x9b'), std::string::npos) << "it may be written to a terminal";
  EXPECT_EQ(json.at("errors").at("OOM"), 3);
  EXPECT_EQ(json.at("queued"), 0) << "zeros are there, too";
  EXPECT_EQ(json.at("named"), false);
  text.clear();
  wire::WorkerRow worker;
  worker.libraries = {"a", "b"};
  AppendJson(text, worker);
  EXPECT_EQ(nlohmann::json::parse(text).at("libraries"), (std::vector<std::string>{"a", "b"}));
  text = "[";
  AppendJson(text, Of<wire::WorkerRow>{"tcp://\x1b", worker});
  EXPECT_EQ(nlohmann::json::parse(text + "]").at(0).at("broker"), "tcp://\x1b") << "and whose it is";
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace skerry::cli
