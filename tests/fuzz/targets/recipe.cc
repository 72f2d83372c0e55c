// cell::DecodeRecipe: what a cell is to do, however it is written.
//
// Input: the bytes.
#include <string>

#include "common/library_name.h"
#include "tests/fuzz/targets/target.h"
#include "worker/cell/recipe_codec.h"

namespace {

using skerry::fuzz::Demand;
namespace cell = skerry::cell;

std::string Shown(const cell::CellRecipe& recipe) {
  std::string text = std::to_string(recipe.libraries.size());
  for (const auto& library : recipe.libraries) text += "|" + library->name + "|" + library->code;
  if (recipe.program)
    text += "|" + recipe.program->code + "|" + std::string(NameOf(recipe.program->job.mode));
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto recipe = cell::DecodeRecipe(bytes);
  if (!recipe) {
    Demand(!recipe.error().message.empty(), "a refusal says why");
    return 0;
  }
  Demand(recipe->libraries.size() <= skerry::kMaxLibraries, "no more libraries than a job can name");
  for (const auto& library : recipe->libraries)
    Demand(!library->name.empty() && library->name.size() <= skerry::kMaxLibraryNameBytes,
           "a name is within its bounds");
  const auto again = cell::EncodeRecipe(*recipe);
  Demand(again.has_value(), "what was decoded can be encoded");
  const auto back = cell::DecodeRecipe(*again);
  Demand(back && Shown(*back) == Shown(*recipe), "and comes back the same");
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  cell::CellRecipe libraries;
  libraries.libraries = {std::make_shared<cell::Library>(cell::Library{"a", "exports.x = 1"}),
                         std::make_shared<cell::Library>(cell::Library{"b", ""})};
  cell::CellRecipe program;
  program.program.emplace();
  program.program->code = "return 1";
  program.program->job.limits = {{"memoryMb", 64}};
  cell::CellRecipe both = libraries;
  both.program = program.program;
  std::vector<std::string> seeds;
  for (const auto& recipe : {cell::CellRecipe(), libraries, program, both})
    seeds.push_back(*cell::EncodeRecipe(recipe));
  return seeds;
}
