// schemas/ is what other languages read: it must say what the codec does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
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

}  // namespace
}  // namespace skerry::wire
