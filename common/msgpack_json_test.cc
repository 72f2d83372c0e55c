#include "common/msgpack_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/text_check.h"

namespace skerry {
namespace {

std::string Bytes(const std::string& hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  return bytes;
}
std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[c & 15];
  }
  return hex;
}

struct Golden {
  std::string json;
  std::string hex;
};
const std::vector<Golden> kGolden = {
    {"null", "c0"},
    {"true", "c3"},
    {"false", "c2"},
    {"0", "00"},
    {"127", "7f"},
    {"128", "cc80"},
    {"255", "ccff"},
    {"256", "cd0100"},
    {"65536", "ce00010000"},
    {"4294967295", "ceffffffff"},
    {"4294967296", "cf0000000100000000"},
    {"9007199254740991", "cf001fffffffffffff"},
    {"-1", "ff"},
    {"-32", "e0"},
    {"-33", "d0df"},
    {"-128", "d080"},
    {"-129", "d1ff7f"},
    {"-32769", "d2ffff7fff"},
    {"-2147483649", "d3ffffffff7fffffff"},
    {"-9007199254740991", "d3ffe0000000000001"},
    {"0.5", "cb3fe0000000000000"},
    {"9007199254740992", "cb4340000000000000"},
    {"1e+300", "cb7e37e43c8800759c"},
    {"-0", "cb8000000000000000"},
    {R"("")", "a0"},
    {R"("é😀")", "a6c3a9f09f9880"},
    {R"("a\"\\b")", "a461225c62"},
    {R"("\u0000\u001f")", "a2001f"},
    {"[]", "90"},
    {"{}", "80"},
    {R"({"a":[1,{"b":null},[]],"c":""})",
     "82a1619301"
     "81a162c0"
     "90"
     "a163a0"},
};

TEST(MsgpackJson, SaysTheSameInGoldenBytesBothWays) {
  for (const Golden& one : kGolden) {
    const auto packed = MsgpackFromJson(one.json);
    ASSERT_TRUE(packed) << one.json << ": " << packed.error().message;
    EXPECT_EQ(Hex(*packed), one.hex) << one.json;
    const auto json = JsonFromMsgpack(Bytes(one.hex));
    ASSERT_TRUE(json) << one.hex << ": " << json.error().message;
    EXPECT_EQ(*json, one.json);
    EXPECT_TRUE(CheckMsgpack(Bytes(one.hex)));
    EXPECT_EQ(nlohmann::json::from_msgpack(*packed), nlohmann::json::parse(one.json)) << one.json;
  }
}

TEST(MsgpackJson, TakesEveryFormOfANumberAndALength) {
  for (const auto& [hex, json] :
       std::vector<std::pair<std::string, std::string>>{{"cc01", "1"},
                                                        {"cf0000000000000001", "1"},
                                                        {"d3ffffffffffffffff", "-1"},
                                                        {"ca3f000000", "0.5"},
                                                        {"cb3ff0000000000000", "1"},
                                                        {"d90161", "\"a\""},
                                                        {"da000161", "\"a\""},
                                                        {"db0000000161", "\"a\""},
                                                        {"dc0001c0", "[null]"},
                                                        {"dd00000001c0", "[null]"},
                                                        {"de0001a16101", "{\"a\":1}"},
                                                        {"df00000001a16101", "{\"a\":1}"},
                                                        {"82a16101a16102", "{\"a\":1,\"a\":2}"}}) {
    const auto made = JsonFromMsgpack(Bytes(hex));
    ASSERT_TRUE(made) << hex;
    EXPECT_EQ(*made, json);
  }
}

TEST(MsgpackJson, RefusesWhatJsonHasNotAndSaysWhat) {
  for (const auto& [hex, why] :
       std::vector<std::pair<std::string, std::string>>{{"", "ends inside"},
                                                        {"92c0", "ends inside"},
                                                        {"a261", "ends inside"},
                                                        {"cb3fe0", "ends inside"},
                                                        {"81a161", "ends inside"},
                                                        {"ddffffffff", "ends inside"},
                                                        {"dbffffffff61", "ends inside"},
                                                        {"c0c0", "bytes behind"},
                                                        {"c1", "c1"},
                                                        {"c40161", "binary"},
                                                        {"c6ffffffff", "binary"},
                                                        {"d6ff00000000", "extension"},
                                                        {"c70105aa", "extension"},
                                                        {"8101c0", "key"},
                                                        {"81c0c0", "key"},
                                                        {"819001", "key"},
                                                        {"a1ff", "UTF-8"},
                                                        {"a3eda080", "UTF-8"},
                                                        {"81a1ffc0", "UTF-8"},
                                                        {"cb7ff8000000000000", "NaN"},
                                                        {"ca7f800000", "NaN or an infinity"},
                                                        {"cf0020000000000000", "2^53"},
                                                        {"cfffffffffffffffff", "2^53"},
                                                        {"d3ffe0000000000000", "2^53"},
                                                        {"d38000000000000000", "2^53"}}) {
    const auto made = JsonFromMsgpack(Bytes(hex));
    ASSERT_FALSE(made) << hex << " is " << *made;
    EXPECT_NE(made.error().message.find(why), std::string::npos) << hex << ": " << made.error().message;
    EXPECT_FALSE(CheckMsgpack(Bytes(hex)));
  }
}

TEST(MsgpackJson, EndsAtItsDepthBothWays) {
  for (const auto& [depth, fits] :
       {std::pair(kMaxMsgpackDepth, true), std::pair(kMaxMsgpackDepth + 1, false)}) {
    const std::string packed(depth, '\x91');
    const std::string json = std::string(depth, '[') + "0" + std::string(depth, ']');
    EXPECT_EQ(JsonFromMsgpack(packed + '\0').has_value(), fits);
    EXPECT_EQ(CheckMsgpack(packed + '\0').has_value(), fits);
    EXPECT_EQ(MsgpackFromJson(json).has_value(), fits);
  }
  EXPECT_FALSE(JsonFromMsgpack(std::string(50'000'000, '\x91')));
  EXPECT_NE(MsgpackFromJson(std::string(50'000, '[')).error().message.find("deeper"), std::string::npos);
}

TEST(MsgpackJson, CarriesEveryLengthOfTextAndContainer) {
  for (const std::size_t size : {15u, 16u, 31u, 32u, 255u, 256u, 65'535u, 65'536u}) {
    nlohmann::json value = {{"text", std::string(size, 'x')}, {"list", std::vector<int>(size, 1)}};
    for (std::size_t i = 0; i < size; ++i) value["map"][std::to_string(i)] = i;
    const auto packed = MsgpackFromJson(value.dump());
    ASSERT_TRUE(packed);
    EXPECT_EQ(nlohmann::json::from_msgpack(*packed), value) << size;
    EXPECT_EQ(*packed, [&] {
      const auto theirs = nlohmann::json::to_msgpack(value);
      return std::string(theirs.begin(), theirs.end());
    }()) << size;
    const auto json = JsonFromMsgpack(*packed);
    ASSERT_TRUE(json);
    EXPECT_EQ(nlohmann::json::parse(*json), value) << size;
  }
}

TEST(MsgpackJson, GivesALoneSurrogateAsWhatUtf8HasForIt) {
  EXPECT_EQ(Hex(*MsgpackFromJson(R"("\ud83d\ude00")")), "a4f09f9880");
  EXPECT_EQ(Hex(*MsgpackFromJson(R"("\ud83dx")")), "a4efbfbd78");
  EXPECT_EQ(Hex(*MsgpackFromJson(R"("\ud83d\u0041")")), "a4efbfbd41");
  EXPECT_EQ(Hex(*MsgpackFromJson(R"("\ude00")")), "a3efbfbd");
}

TEST(MsgpackJson, TakesNumbersThatNoDoubleHoldsAsFarAsTheyMeanOne) {
  // Only JSON.rawJSON makes such.
  EXPECT_EQ(Hex(*MsgpackFromJson("[0.1e-500]")), "9100");
  EXPECT_EQ(Hex(*MsgpackFromJson("[-1e-400]")), "91cb8000000000000000");
  EXPECT_EQ(Hex(*MsgpackFromJson("5e-324")), "cb0000000000000001") << "the smallest there is";
  for (const char* text : {"[1e400]", "[-1e400]"}) {
    const auto packed = MsgpackFromJson(text);
    ASSERT_FALSE(packed) << text;
    EXPECT_EQ(packed.error().message, "it has a number larger than any double at byte 1");
  }
}

TEST(MsgpackJson, RefusesWhatIsNoJson) {
  for (const char* json : {"",    " ",   "[",  "{",    "{\"a\"}", "{\"a\":}", "[1,]", "[1 2]",
                           "]",   "1 1", "\"", "\"\\", "\"\\u12", "\"\\x\"",  "nul",  "inf",
                           "nan", "-",   "+1", "[}",   "{1:2}",   "1e999",    ",",    "[,]"}) {
    EXPECT_FALSE(MsgpackFromJson(json)) << json;
  }
}

TEST(MsgpackJson, GrowsByNoMoreThanItSays) {
  for (const std::string json :
       {"0.5", "[0.5]", "[0.5,0.5,0.5,0.5]", "\"\"", "[]", "{\"\":0.5}", "1e9", "[[[[1.5]]]]"}) {
    const auto packed = MsgpackFromJson(json);
    ASSERT_TRUE(packed);
    EXPECT_LE(LeastJsonBytes(packed->size()), json.size()) << json;
  }
  EXPECT_EQ(LeastJsonBytes(9), 3u);
  EXPECT_EQ(LeastJsonBytes(10), 4u);
}

}  // namespace
}  // namespace skerry
