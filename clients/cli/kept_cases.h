// What an earlier run's results say of jobs with cases: of those that have no summary, which ends there are.
//
// Lines are told in the file's order. One entry per job whose summary has not come, or must be written again
// because cases of it are run again. Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "clients/cpp/cases.h"

namespace skerry::cli {

class KeptCases {
 public:
  /// Names a case in a set of ids: no job's id holds a zero byte.
  static std::string Key(const std::string& id, std::uint64_t number) {
    return id + '\0' + std::to_string(number);
  }

  /// Of a case that stays: what it adds to.
  CasesSummary& Kept(const std::string& id) { return jobs_[id].kept; }
  /// The line is taken out.
  void RunAgain(const std::string& id) { jobs_[id].again = true; }
  /// Whether its summary stays.
  bool Summary(const std::string& id) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return true;
    if (found->second.again) return false;
    jobs_.erase(found);
    return true;
  }

  bool HasRunAgain(const std::string& id) const {
    const auto found = jobs_.find(id);
    return found != jobs_.end() && found->second.again;
  }
  /// Of the cases that are kept; nothing where there are none.
  CasesSummary Of(const std::string& id) const {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? CasesSummary() : found->second.kept;
  }

 private:
  struct Job {
    CasesSummary kept;
    bool again = false;
  };
  std::unordered_map<std::string, Job> jobs_;
};

}  // namespace skerry::cli
