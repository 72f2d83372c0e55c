// Figures as people read them in a table.
//
// Threads: pure functions. Errors: none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/admin.h"

namespace skerry::cli {

/// 0 B, 1.5 KiB, 20 MiB.
std::string BytesText(std::uint64_t bytes);
/// 12s, 3m, 5h, 2d.
std::string AgeText(std::uint64_t ms);
/// 0.25s, 12.0s, 3,600s.
std::string SecondsText(std::uint64_t micros);
/// 0, 0.3, 12.5, 1,240.
std::string RateText(double per_second);
/// "-" for a limit that is none.
std::string LimitText(std::uint64_t limit);
/// "OOM 1, TIMEOUT 3", the largest first, and how many more kinds there are past `most`.
std::string CountsText(const wire::NamedCounts& counts, std::size_t most);

std::uint64_t SumOf(const wire::NamedCounts& counts);
std::uint64_t CountOf(const wire::NamedCounts& counts, std::string_view name);

/// Isolates that a worker has seen die by a signal that it did not send.
std::uint64_t CrashesOf(const wire::WorkerRow& worker);

}  // namespace skerry::cli
