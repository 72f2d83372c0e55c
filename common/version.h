// The version of everything built here, as peers and metrics are told it. CMakeLists.txt's project() agrees.
#pragma once

#include <string_view>

namespace skerry {

inline constexpr std::string_view kSkerryVersion = "0.1.0";
/// What a HELLO's `software` says.
inline constexpr std::string_view kSkerrySoftware = "skerry/0.1.0";

}  // namespace skerry
