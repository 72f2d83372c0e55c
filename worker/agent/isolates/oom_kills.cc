#include "worker/agent/isolates/oom_kills.h"

namespace skerry::agent {

OomKills::OomKills(const std::filesystem::path& root)
    : files_(FilesUnder(root)),
      counter_(FindOomCounter(files_)),
      seen_(ReadOomKills(files_, counter_).value_or(0)) {}

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
  const auto value = ReadOomKills(files_, counter_);
  if (!value || *value == seen_) return;
  if (*value > seen_) {  // it falls only where the group has been made anew
    unexplained_ += *value - seen_;
    rose_at_ = now;
  }
  seen_ = *value;
}

}  // namespace skerry::agent
