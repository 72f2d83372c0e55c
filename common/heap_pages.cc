#include "common/heap_pages.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace skerry {
namespace {

constexpr const char* kVariable = "GLIBC_TUNABLES";
const std::string kTunable = "glibc.malloc.hugetlb";
// madvise(2) for what malloc takes from the kernel; 2 would need pages that an operator has set aside.
const std::string kOurs = kTunable + "=1";

/// What stood there before ours was put behind it.
void TakeOurs(const std::string& value) {
  if (value == kOurs) {
    ::unsetenv(kVariable);
  } else if (const std::string end = ":" + kOurs; value.ends_with(end)) {
    ::setenv(kVariable, value.substr(0, value.size() - end.size()).c_str(), 1);
  }
}

}  // namespace

void PutHeapOnHugePages(char* const argv[]) {
  const char* tunables = std::getenv(kVariable);
  const std::string before = tunables == nullptr ? "" : tunables;
  if (before.find(kTunable) != std::string::npos) return TakeOurs(before);
  std::error_code unreadable;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  if (unreadable) return;
  if (::setenv(kVariable, (before.empty() ? kOurs : before + ":" + kOurs).c_str(), 1) != 0) return;
  ::execv(self.c_str(), argv);
  TakeOurs(std::getenv(kVariable));  // an upgrade has taken the file away: the heap is as it is
}

}  // namespace skerry
