// The names that a job's line may have, for who has mistyped one.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace skerry::cli {

/// "unknown field cod; did you mean 'code'?". A limit that stands beside `limits` is told where it belongs.
std::string UnknownField(std::string_view name);
/// "unknown limit limits.timeoutms; did you mean 'timeoutMs'?"
std::string UnknownLimit(std::string_view name);

}  // namespace skerry::cli
