// A control group with a memory limit of its own, for a test's worker: where the kernel's OOM killer strikes
// at little cost.
//
//   const auto group = MemoryGroup::Make(160 << 20);
//   if (!group) GTEST_SKIP() << MemoryGroup::kWhyNot;
//   Pool pool({.worker_prefix = group->Joining()});        // must end before the group does
//
// Version 1 only: there a group can be made beside the test's own, with no say of whoever manages the tree.
//
// Threads: one test's. Ownership: the group is removed with it, once its processes have gone.
// Errors: Make gives nothing where groups cannot be made; one that cannot be removed fails the test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace skerry::testing {

class MemoryGroup {
 public:
  static constexpr const char* kWhyNot = "needs root and a writable version 1 memory controller";

  static std::unique_ptr<MemoryGroup> Make(std::uint64_t limit_bytes);
  ~MemoryGroup();
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  /// A program and its arguments that joins the group and becomes what follows.
  std::vector<std::string> Joining() const;
  /// Processes that the OOM killer has taken from it.
  std::uint64_t OomKills() const;

 private:
  explicit MemoryGroup(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace skerry::testing
