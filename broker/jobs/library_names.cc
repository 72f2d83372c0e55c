#include "broker/jobs/library_names.h"

#include <algorithm>

#include "common/library_name.h"

namespace skerry::broker {
namespace {

// In a message; more are counted.
constexpr std::size_t kMaxListed = 16;

}  // namespace

std::optional<std::string> FaultInLibraries(std::span<const std::string> names, std::size_t most) {
  if (names.size() > most)
    return "libraries must be at most " + std::to_string(most) + ", got " + std::to_string(names.size());
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    // A name that is none is not quoted: it may hold anything.
    if (!IsLibraryName(name)) return "each of libraries must be " + std::string(kLibraryNameRule);
    if (!seen.insert(name).second) return "libraries names '" + name + "' twice";
  }
  return std::nullopt;
}

bool HasAll(const LibraryNames& sorted, std::span<const std::string> wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    return std::binary_search(sorted.begin(), sorted.end(), name);
  });
}

std::string Listed(const std::set<std::string>& names) {
  std::string text;
  std::size_t told = 0;
  for (const std::string& name : names) {
    if (told++ == kMaxListed) return text + " and " + std::to_string(names.size() - kMaxListed) + " more";
    text += (text.empty() ? "'" : ", '") + name + "'";
  }
  return text;
}

}  // namespace skerry::broker
