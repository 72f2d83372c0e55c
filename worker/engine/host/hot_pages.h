// The pages that every fork of this process touches, learnt from one that did a job and was thrown away. Most
// of what a fork costs are page faults (DESIGN section 6.3), and these come to nearly all of a small job's.
//
//   HotPages hot = HotPages::Learn([&] { engine.Run(program, port); });  // in the template, when all is set
//   up hot.MoveConstants();                                                 // in the template
//   hot.Populate();                                                      // in each fork, before its job
//
// Pages that the fork wrote are copied in one call per range (MADV_POPULATE_WRITE, Linux 5.14) instead of one
// fault per page. Large constants of the host's file that it read are moved to huge pages once.
//
// Threads: one. Errors: none; where the kernel tells or gives nothing, forks pay their faults.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "worker/engine/host/huge_pages.h"

namespace skerry::engine {

class HotPages {
 public:
  /// Files mapped with less than this are libraries, whose pages nothing can be done about.
  static constexpr std::size_t kLeastConstants = std::size_t{8} << 20;
  /// At most so many huge pages are moved, 2 MiB each of every cell's memory.
  static constexpr std::size_t kMaxConstantPages = 8;

  HotPages() = default;
  /// Forks, does `job` in the fork, and looks. Nothing of the template should move any more.
  static HotPages Learn(const std::function<void()>& job);

  /// Returns the bytes moved.
  std::size_t MoveConstants() const;
  void Populate() const;

  /// Private memory that the fork wrote, and had from its template.
  const std::vector<PageRange>& written() const { return written_; }
  /// Whole huge pages of read-only file mappings that it looked into.
  const std::vector<PageRange>& constants() const { return constants_; }

 private:
  std::vector<PageRange> written_;
  std::vector<PageRange> constants_;
};

}  // namespace skerry::engine
