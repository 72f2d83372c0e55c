#include "common/wire/admin_codec.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace skerry::wire {
namespace {

std::string Page(const std::string& name) {
  std::ifstream file(SKERRY_SOURCE_DIR "/schemas/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

WorkerRow FullWorker(const std::string& id) {
  WorkerRow row;
  row.id = SessionId(id);
  row.state = "serving";
  row.slots = 4;
  row.host = "node-7";
  row.pid = 4711;
  row.libraries = {"lodash", "zod"};
  row.exits.entries = {{"finished", 12}, {"segv", 1}};
  return row;
}

TEST(AdminCodec, EachMessageKeepsItsFields) {
  Ask ask;
  ask.number = 9;
  ask.what = "workers";
  ask.after = "w-1";
  ask.rows = kMaxAdminRows;
  const auto asked = DecodeAdmin(EncodeAdmin(ask));
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(EncodeAdmin(*asked), EncodeAdmin(ask));
  EXPECT_EQ(std::get<Ask>(*asked).after, "w-1");

  const auto told = DecodeAdmin(EncodeAdmin(Told{kAdminVersion, 9, 2, "w-3"}));
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(std::get<Told>(*told).next, "w-3");
  const auto denied = DecodeAdmin(EncodeAdmin(Denied{9, "no"}));
  ASSERT_TRUE(denied) << denied.error().message;
  EXPECT_EQ(std::get<Denied>(*denied).reason, "no");
}

TEST(AdminCodec, AQuestionForOneRowTooManyIsRefused) {
  Ask ask;
  ask.what = "workers";
  ask.rows = kMaxAdminRows + 1;
  const auto asked = DecodeAdmin(EncodeAdmin(ask));
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message, "ask.rows must be an integer in range");
}

TEST(AdminCodec, AnIdOneByteTooLongIsRefused) {
  Ask ask;
  ask.what = "tenants";
  ask.id = std::string(kMaxIdBytes, 'x');
  EXPECT_TRUE(DecodeAdmin(EncodeAdmin(ask)));
  ask.id += 'x';
  EXPECT_FALSE(DecodeAdmin(EncodeAdmin(ask)));
}

TEST(AdminCodec, MessagesOfTheOtherSocketsAreOfNoKnownTypeHere) {
  const auto header = DecodeAdmin(
      "\x81\xa1t\xa3"
      "bye");
  ASSERT_FALSE(header);
  EXPECT_EQ(header.error().kind, ErrorKind::kUnknownType);
  EXPECT_EQ(DecodeAdmin("nonsense").error().kind, ErrorKind::kInvalid);
}

TEST(AdminCodec, APageIsExactlyItsRows) {
  std::string page;
  AppendRow(page, FullWorker("a"));
  AppendRow(page, FullWorker("b"));
  const auto rows = ReadRows<WorkerRow>(page, 2);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[1].id.str(), "b");
  EXPECT_EQ((*rows)[1].libraries, FullWorker("b").libraries);
  EXPECT_EQ((*rows)[1].exits, FullWorker("b").exits);

  EXPECT_FALSE(ReadRows<WorkerRow>(page, 1)) << "a row is left over";
  EXPECT_FALSE(ReadRows<WorkerRow>(page, 3)) << "a row is missing";
  EXPECT_FALSE(ReadRows<WorkerRow>(page.substr(0, page.size() - 1), 2)) << "the last row is cut";
  EXPECT_FALSE(ReadRows<WorkerRow>(std::string(3, '\x01'), 3)) << "no maps";
}

TEST(AdminCodec, ALargestPageOfLongestRowsHasTheBytesThatTheDocumentPromises) {
  WorkerRow row = FullWorker(std::string(kMaxIdBytes, 'x'));
  row.host = row.v8 = row.sandbox = row.software = std::string(64, 'x');
  row.libraries.assign(64, std::string(64, 'y'));
  row.reason = std::string(1024, 'r');
  std::string page;
  for (std::uint64_t i = 0; i < kMaxAdminRows; ++i) AppendRow(page, row);
  EXPECT_LT(page.size(), std::size_t{2} << 20);
}

// SKERRY_WRITE_SCHEMAS=1 renews admin.json after a deliberate change of the tables.
TEST(AdminSchema, AdminJsonIsWhatTheCodecPrints) {
  if (std::getenv("SKERRY_WRITE_SCHEMAS") != nullptr)
    std::ofstream(SKERRY_SOURCE_DIR "/schemas/admin.json") << AdminSchemaJson();
  EXPECT_EQ(Page("admin.json"), AdminSchemaJson());
}

TEST(AdminSchema, AdminMdNamesEveryFieldOfEveryMessageInItsOrder) {
  std::map<std::string, std::vector<std::string>> listed;
  std::stringstream page(Page("admin.md"));
  std::string message;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("### ")) message = line.substr(4);
    if (line.starts_with("| `") && !message.empty())
      listed[message].push_back(line.substr(3, line.find('`', 3) - 3));
  }
  const auto schema = nlohmann::json::parse(AdminSchemaJson());
  for (const auto& described : schema.at("messages")) {
    std::vector<std::string> keys;
    for (const auto& field : described.at("fields")) keys.push_back(field.at("key"));
    EXPECT_EQ(listed[described.at("type")], keys) << described.at("type");
  }
}

}  // namespace
}  // namespace skerry::wire
