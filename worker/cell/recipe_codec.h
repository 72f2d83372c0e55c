// A recipe as bytes: how it reaches the cell that is to do it, in a memfd that comes with a control packet.
//
//   byte 0       kRecipeVersion
//   byte 1       libraries, up to kMaxLibraries
//   byte 2       1 where there is a program, else 0
//   then per library its name's size and its text's (4 bytes each, little endian), its name, its text
//   then of the program its header's size and its code's, a DISPATCH (common/wire) with the job, its code
//   and nothing behind it
//
// Threads: pure. Errors: kInvalid; the decoder checks every size before it copies, and takes nothing for
// granted though only a worker writes recipes.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "worker/cell/recipe.h"

namespace skerry::cell {

inline constexpr char kRecipeVersion = 1;
/// Of all libraries and the program together: four times the largest code of a job.
inline constexpr std::size_t kMaxRecipeBytes = std::size_t{256} << 20;

/// Fails where DecodeRecipe would not take it back.
Result<std::string> EncodeRecipe(const CellRecipe& recipe);
Result<CellRecipe> DecodeRecipe(std::string_view bytes);

}  // namespace skerry::cell
