#include "worker/agent/oom_kills.h"

#include <fstream>
#include <optional>
#include <string>

#include "worker/agent/memory_groups.h"

namespace skerry::agent {
namespace {

namespace fs = std::filesystem;

// All three files have a line `oom_kill N` among others of that form.
std::optional<std::uint64_t> ReadCount(const fs::path& file) {
  std::ifstream in(file);
  std::string key;
  for (std::uint64_t value = 0; in >> key >> value;) {
    if (key == "oom_kill") return value;
  }
  return std::nullopt;
}

fs::path FindCounter(const fs::path& root) {
  for (const MemoryGroup& group : OwnMemoryGroups(root)) {
    const char* file = group.version == MemoryGroup::Version::k2 ? "memory.events" : "memory.oom_control";
    for (const fs::path& folder : {group.mount / group.path, group.mount}) {
      if (ReadCount(folder / file)) return folder / file;
    }
  }
  return root / "proc/vmstat";
}

}  // namespace

OomKills::OomKills(const fs::path& root)
    : counter_(FindCounter(root)), seen_(ReadCount(counter_).value_or(0)) {}

void OomKills::Note(TimePoint now) {
  if (noted_at_ != TimePoint{} && now - noted_at_ < kFresh) return;
  Look(now);
}

bool OomKills::Explain(TimePoint now) {
  Look(now);
  if (unexplained_ == 0) return false;
  --unexplained_;
  return true;
}

void OomKills::Look(TimePoint now) {
  noted_at_ = now;
  if (now - rose_at_ > kFresh) unexplained_ = 0;
  const auto value = ReadCount(counter_);
  if (!value || *value == seen_) return;
  if (*value > seen_) {  // it falls only where the group has been made anew
    unexplained_ += *value - seen_;
    rose_at_ = now;
  }
  seen_ = *value;
}

}  // namespace skerry::agent
