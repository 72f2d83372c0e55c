#include "worker/engine/utf8.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/utf8.h"

namespace skerry::engine {
namespace {

TEST(Utf8Prefix, KeepsTextThatFitsExactly) {
  EXPECT_EQ(CutUtf8("abc", 3), "abc");
  EXPECT_EQ(CutUtf8("", 0), "");
}

TEST(Utf8Prefix, NeverCutsInsideACharacter) {
  const std::string text = "aé漢😀";  // 1 + 2 + 3 + 4 bytes
  const std::size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  for (std::size_t max = 0; max <= 10; ++max) EXPECT_EQ(CutUtf8(text, max).size(), ends[max]) << max;
}

TEST(QuotedPrefix, IsAJsonStringOfAsMuchAsFits) {
  const std::string text = R"({"key":"a\\b","é":"😀"})";
  for (std::size_t max = 2; max <= 64; ++max) {
    const std::string quoted = QuotedPrefix(text, max);
    ASSERT_LE(quoted.size(), max);
    const std::string read = nlohmann::json::parse(quoted).get<std::string>();
    EXPECT_EQ(text.substr(0, read.size()), read);
  }
  EXPECT_EQ(nlohmann::json::parse(QuotedPrefix(text, 64)).get<std::string>(), text);
}

}  // namespace
}  // namespace skerry::engine
