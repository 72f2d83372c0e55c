// Who keeps crashing, and is refused for a while: programs, and tenants as a whole. Forks of a cell share
// their address layout, so that each crash of a hostile program is a probe of its neighbours'
// (docs/decisions/0013).
//
//   if (const auto begun = watch.Note({tenant, code_hash, code}, now)) ...      // a run of a job crashed
//   if (const auto refused = watch.Check({tenant, code_hash, code}, now)) ...   // before one is queued, or
//                                                                               // dispatched
//
// A program is its tenant and its `codeHash`, or a hash of the code where its client gave none: what a client
// says falsely harms its own tenant only. The code is hashed when a job crashed, and in Check only while a
// job of the same tenant has crashed of late: ordinary jobs pay a look into a table.
//
// Each table forgets who has not crashed within the window and is not refused, and past its bound whoever
// crashed longest ago. No program of a tenant that is forgotten is refused.
//
// Threads: the core's. Memory: kMaxTenants and kMaxPrograms entries, each a name and as many times as the
// threshold (at most kMaxThreshold): 4 MiB with the defaults, 50 MiB with the largest thresholds.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/units.h"

namespace skerry::broker {

struct CrashRules {
  std::uint64_t program_crashes = 3;  ///< this many within `window`, and the program is refused; 0: never
  std::uint64_t tenant_crashes = 50;  ///< the same of all jobs of a tenant
  Millis window{600'000};
  Millis refusal{60'000};
};

/// What a job runs, for whom.
struct Program {
  const std::string& tenant;
  std::string_view code_hash;  ///< 32 bytes, or none
  std::string_view code;
};

/// Why a job is refused now.
struct CrashRefusal {
  enum class Of : std::uint8_t { kProgram, kTenant };
  Of of = Of::kProgram;
  std::uint64_t crashes = 0;  ///< within the window, up to the threshold
  Millis remaining{0};        ///< 1 and up
};

/// The times of crashes by name, oldest forgotten first.
class CrashTable {
 public:
  CrashTable(std::uint64_t threshold, std::size_t most, const CrashRules& rules)
      : threshold_(threshold), most_(most), window_(rules.window), refusal_(rules.refusal) {}
  CrashTable(const CrashTable&) = delete;  // order_ points into entries_
  CrashTable& operator=(const CrashTable&) = delete;

  /// True where this crash begins a refusal.
  bool Note(const std::string& name, TimePoint now);
  bool Knows(const std::string& name) const { return entries_.contains(name); }
  std::optional<CrashRefusal> Check(const std::string& name, TimePoint now) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::vector<TimePoint> crashes;  // within the window, the oldest first
    TimePoint last;
    TimePoint refused_until;
    std::list<const std::string*>::iterator place;
  };

  void ForgetOld(TimePoint now);
  void ForgetFirst();

  const std::uint64_t threshold_;
  const std::size_t most_;
  const Millis window_;
  const Millis refusal_;
  std::unordered_map<std::string, Entry> entries_;
  std::list<const std::string*> order_;  // the names, by their last crash, longest ago first
};

class CrashWatch {
 public:
  static constexpr std::size_t kMaxTenants = 1024;
  static constexpr std::size_t kMaxPrograms = 4096;
  static constexpr std::uint64_t kMaxThreshold = 1000;

  explicit CrashWatch(const CrashRules& rules)
      : tenants_(rules.tenant_crashes, kMaxTenants, rules),
        programs_(rules.program_crashes, kMaxPrograms, rules) {}

  /// A job of that program crashed. The refusal that begins with it, if one does.
  std::optional<CrashRefusal> Note(const Program& program, TimePoint now);
  /// Why the job may not run now: its program's reason, or its tenant's, whichever lasts longer.
  std::optional<CrashRefusal> Check(const Program& program, TimePoint now) const;

  std::size_t tenants() const { return tenants_.size(); }
  std::size_t programs() const { return programs_.size(); }

 private:
  CrashTable tenants_;
  CrashTable programs_;
};

}  // namespace skerry::broker
