// What a library may be named: by operators, by jobs, on the wire and in a cell's recipe.
//
// Threads: pure. Errors: none; IsLibraryName says no, and kLibraryNameRule why.
#pragma once

#include <cstddef>
#include <string_view>

namespace skerry {

inline constexpr std::size_t kMaxLibraryNameBytes = 64;
inline constexpr std::string_view kLibraryNameRule = "1 to 64 of A-Z a-z 0-9 @ / . _ -";

/// As kLibraryNameRule says: what registries allow, and nothing that a log or a label could stumble over.
bool IsLibraryName(std::string_view name);

}  // namespace skerry
