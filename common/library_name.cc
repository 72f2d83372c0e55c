#include "common/library_name.h"

#include <algorithm>

namespace skerry {
namespace {

bool IsOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("@/._-").find(c) != std::string_view::npos;
}

}  // namespace

bool IsLibraryName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxLibraryNameBytes &&
         std::all_of(name.begin(), name.end(), IsOfName);
}

}  // namespace skerry
