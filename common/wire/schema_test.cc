// schemas/ is what other languages read: it must say what the codec does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/wire/codec.h"

namespace skerry::wire {
namespace {

std::string ReadSchemaFile(const std::string& name) {
  std::ifstream file(SKERRY_SOURCE_DIR "/schemas/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string ToHex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// SKERRY_WRITE_SCHEMAS=1 renews messages.json after a deliberate change of the tables.
TEST(WireSchema, MessagesJsonIsWhatTheCodecPrints) {
  if (std::getenv("SKERRY_WRITE_SCHEMAS") != nullptr) {
    std::ofstream(SKERRY_SOURCE_DIR "/schemas/messages.json") << SchemaJson();
  }
  EXPECT_EQ(ReadSchemaFile("messages.json"), SchemaJson());
}

TEST(WireSchema, EveryGoldenVectorDecodesAndEncodesToTheSameBytes) {
  const auto vectors = nlohmann::json::parse(ReadSchemaFile("vectors.json"));
  std::size_t seen = 0;
  for (const auto& vector : vectors) {
    const std::string bytes = FromHex(vector.at("hex").get<std::string>());
    const auto header = Decode(bytes);
    ASSERT_TRUE(header) << vector << ": " << header.error().message;
    EXPECT_EQ(ToHex(Encode(*header)), vector.at("hex").get<std::string>()) << vector.at("type");
    ++seen;
  }
  EXPECT_GE(seen, std::variant_size_v<Header>);
}

TEST(WireSchema, EveryMessageHasAGoldenVectorOfItsType) {
  const auto vectors = nlohmann::json::parse(ReadSchemaFile("vectors.json"));
  const auto schema = nlohmann::json::parse(SchemaJson());
  for (const auto& message : schema.at("messages")) {
    const auto found = std::find_if(vectors.begin(), vectors.end(), [&](const auto& vector) {
      return vector.at("type") == message.at("type");
    });
    EXPECT_NE(found, vectors.end()) << message.at("type");
  }
}

TEST(WireSchema, WhatIsMalformedIsRefusedWithAReasonAndQuickly) {
  const auto cases = nlohmann::json::parse(ReadSchemaFile("malformed.json"));
  EXPECT_GE(cases.size(), 40u);
  for (const auto& bad : cases) {
    const auto header = Decode(FromHex(bad.at("hex").get<std::string>()));
    ASSERT_FALSE(header) << bad.at("name") << ": " << bad.at("why");
    EXPECT_EQ(header.error().kind, ErrorKind::kInvalid) << bad.at("name");
    EXPECT_FALSE(header.error().message.empty()) << bad.at("name");
  }
}

TEST(WireSchema, AnUnknownTypeIsToldFromAMalformedMessage) {
  EXPECT_EQ(Decode("\x81\xa1t\xa3nix").error().kind, ErrorKind::kUnknownType);
}

TEST(WireSchema, AHeaderOfTheFutureIsReadByWhatIsKnownOfIt) {
  // {"t": "accepted", "id": "x", "later": {"a": [1, nil]}, "even": 1.5}
  const std::string bytes =
      "\x84\xa1t\xa8"
      "accepted\xa2id\xa1x\xa5later\x81\xa1"
      "a\x92\x01\xc0\xa4"
      "even\xcb\x3f\xf8" +
      std::string(6, '\0');
  const auto header = Decode(bytes);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(std::get<Accepted>(*header).id.str(), "x");
}

/// The cells of a table row of wire.md, without the white space around them.
std::vector<std::string> CellsOf(const std::string& row) {
  std::vector<std::string> cells;
  std::stringstream text(row.substr(1));
  for (std::string cell; std::getline(text, cell, '|');) {
    const auto begin = cell.find_first_not_of(' ');
    const auto end = cell.find_last_not_of(' ');
    cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
  }
  return cells;
}

std::string BoundsOf(const nlohmann::json& field) {
  std::string bounds;
  if (field.contains("values")) {
    for (const auto& value : field.at("values"))
      bounds += (bounds.empty() ? "" : ", ") + value.get<std::string>();
  } else if (field.contains("min")) {
    bounds = field.at("min").dump() + " to " + field.at("max").dump();
  } else if (field.contains("max")) {
    bounds = "at most " + field.at("max").dump();
  }
  return bounds;
}

TEST(WireSchema, TheTablesOfWireMdSayWhatMessagesJsonSays) {
  std::map<std::string, std::vector<std::vector<std::string>>> tables;
  std::stringstream page(ReadSchemaFile("wire.md"));
  std::string message;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("### ")) message = line.substr(4);
    if (line.starts_with("| `") && !message.empty()) tables[message].push_back(CellsOf(line));
  }
  const auto schema = nlohmann::json::parse(SchemaJson());
  for (const auto& described : schema.at("messages")) {
    const auto& rows = tables[described.at("type")];
    ASSERT_EQ(rows.size(), described.at("fields").size()) << described.at("type");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& field = described.at("fields")[i];
      const std::vector<std::string> due = {"`" + field.at("key").get<std::string>() + "`", field.at("type"),
                                            field.at("required").get<bool>() ? "yes" : "no",
                                            field.contains("default") ? field.at("default").dump() : "",
                                            BoundsOf(field)};
      ASSERT_EQ(rows[i].size(), 6u) << described.at("type");
      EXPECT_EQ(std::vector<std::string>(rows[i].begin(), rows[i].begin() + 5), due) << described.at("type");
      EXPECT_FALSE(rows[i][5].empty()) << due[0] << " has no meaning";
    }
  }
}

}  // namespace
}  // namespace skerry::wire
