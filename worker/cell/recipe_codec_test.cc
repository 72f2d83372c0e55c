#include "worker/cell/recipe_codec.h"

#include <gtest/gtest.h>

#include <string>

#include "common/library_name.h"

namespace skerry::cell {
namespace {

CellRecipe Sample() {
  CellRecipe recipe;
  recipe.libraries.push_back(std::make_shared<Library>(Library{"a", "exports.x = 1"}));
  recipe.libraries.push_back(std::make_shared<Library>(Library{"b", ""}));
  CellProgram program;
  program.job.mode = Mode::kModule;
  program.job.limits = {{"memoryMb", 64}};
  program.job.seed = kMaxSeed;
  program.job.clock_ms = 5;
  program.job.wasm = true;
  program.code = std::string("export\0default", 14);
  recipe.program = program;
  return recipe;
}

TEST(RecipeCodec, WhatIsEncodedComesBack) {
  const auto bytes = EncodeRecipe(Sample());
  ASSERT_TRUE(bytes);
  const auto recipe = DecodeRecipe(*bytes);
  ASSERT_TRUE(recipe) << recipe.error().message;
  ASSERT_EQ(recipe->libraries.size(), 2u);
  EXPECT_EQ(recipe->libraries[0]->name, "a");
  EXPECT_EQ(recipe->libraries[0]->code, "exports.x = 1");
  EXPECT_EQ(recipe->libraries[1]->code, "");
  ASSERT_TRUE(recipe->program);
  EXPECT_EQ(recipe->program->code, std::string("export\0default", 14));
  EXPECT_EQ(recipe->program->job.mode, Mode::kModule);
  EXPECT_EQ(recipe->program->job.seed, kMaxSeed);
  EXPECT_EQ(recipe->program->job.clock_ms, 5u);
  EXPECT_TRUE(recipe->program->job.wasm);
  EXPECT_EQ(LimitsOf(recipe->program->job).memory_mb(), 64u);
  EXPECT_EQ(LimitsOf(recipe->program->job).timeout_ms(), SpecOf(LimitId::kTimeoutMs).default_value);
}

TEST(RecipeCodec, AnEmptyRecipeIsOne) {
  const auto recipe = DecodeRecipe(*EncodeRecipe({}));
  ASSERT_TRUE(recipe);
  EXPECT_TRUE(recipe->libraries.empty());
  EXPECT_FALSE(recipe->program);
}

TEST(RecipeCodec, ExactlyTheMostLibrariesPassAndOneMoreDoesNot) {
  CellRecipe recipe;
  recipe.libraries.assign(kMaxLibraries, std::make_shared<Library>(Library{"n", "c"}));
  const auto bytes = EncodeRecipe(recipe);
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(DecodeRecipe(*bytes));
  recipe.libraries.push_back(recipe.libraries[0]);
  EXPECT_FALSE(EncodeRecipe(recipe));
  std::string more = *bytes;
  more[1] = static_cast<char>(kMaxLibraries + 1);
  EXPECT_FALSE(DecodeRecipe(more + more.substr(3, 10)));
}

TEST(RecipeCodec, ExactlyTheLongestNamePassesAndOneByteMoreDoesNot) {
  CellRecipe recipe;
  recipe.libraries = {std::make_shared<Library>(Library{std::string(kMaxLibraryNameBytes, 'n'), ""})};
  ASSERT_TRUE(EncodeRecipe(recipe));
  EXPECT_TRUE(DecodeRecipe(*EncodeRecipe(recipe)));
  recipe.libraries = {std::make_shared<Library>(Library{std::string(kMaxLibraryNameBytes + 1, 'n'), ""})};
  EXPECT_FALSE(EncodeRecipe(recipe));
  recipe.libraries = {std::make_shared<Library>(Library{"", ""})};
  EXPECT_FALSE(EncodeRecipe(recipe));
  EXPECT_FALSE(DecodeRecipe(std::string("\1\1\0", 3) + std::string(8, '\0')));
}

TEST(RecipeCodec, ExactlyTheLargestPassesAndOneByteMoreDoesNot) {
  CellRecipe recipe;
  const std::size_t around = 3 + 8 + 1;
  recipe.libraries = {std::make_shared<Library>(Library{"n", std::string(kMaxRecipeBytes - around, 'x')})};
  const auto bytes = EncodeRecipe(recipe);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->size(), kMaxRecipeBytes);
  recipe.libraries = {
      std::make_shared<Library>(Library{"n", std::string(kMaxRecipeBytes - around + 1, 'x')})};
  EXPECT_FALSE(EncodeRecipe(recipe));
}

TEST(RecipeCodec, WhatIsCutShortOrGoesOnIsRefused) {
  const std::string bytes = *EncodeRecipe(Sample());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(DecodeRecipe(bytes.substr(0, size))) << size;
  EXPECT_FALSE(DecodeRecipe(bytes + "x"));
}

TEST(RecipeCodec, WhatIsMalformedIsRefused) {
  EXPECT_FALSE(DecodeRecipe(std::string("\2\0\0", 3))) << "of another version";
  EXPECT_FALSE(DecodeRecipe(std::string("\1\0\2", 3)));
  EXPECT_FALSE(DecodeRecipe(std::string("\1\0\xff", 3)));
  EXPECT_FALSE(DecodeRecipe(std::string("\1\1\0\xff\xff\xff\xff\xff\xff\xff\xff", 11)))
      << "sizes past the end";
  EXPECT_FALSE(DecodeRecipe(std::string("\1\0\1\1\0\0\0\0\0\0\0x", 12))) << "no job";
  std::string other = std::string("\1\0\1\x0c\0\0\0\0\0\0\0", 11) + "\x81\xa4type\xa4ping";
  EXPECT_FALSE(DecodeRecipe(other)) << "another message";
}

}  // namespace
}  // namespace skerry::cell
