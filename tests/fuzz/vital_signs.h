// What must be as before when a process under attack has been left alone again.
//
//   VitalSigns before(pid);
//   ...
//   before.ExpectUnharmed(child);
//
// Threads: one. Errors: a difference fails the test.
#pragma once

#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "common/testing/proc_fs.h"
#include "common/units.h"
#include "tests/support/child.h"

namespace skerry::fuzz {

class VitalSigns {
 public:
  explicit VitalSigns(testing::Child& child)
      : descriptors_(SettledDescriptors(child.pid())), peak_(testing::PeakResidentBytes(child.pid())) {}

  /// The same process, with the descriptors it had, and at no moment more than `growth` above its size then.
  void ExpectUnharmed(testing::Child& child, Bytes growth) const {
    ASSERT_TRUE(child.IsRunning());
    EXPECT_LE(testing::PeakResidentBytes(child.pid()), peak_ + growth.count());
    // Closing is the kernel's and ZeroMQ's I/O thread's to do: give them a moment.
    for (int i = 0; i < 500 && testing::DescriptorsOf(child.pid()) != descriptors_; ++i)
      std::this_thread::sleep_for(Millis(10));
    EXPECT_EQ(testing::DescriptorsOf(child.pid()), descriptors_);
  }

 private:
  // Unchanged for a while: spares that were being forked have come.
  static std::size_t SettledDescriptors(pid_t pid) {
    std::size_t count = testing::DescriptorsOf(pid);
    for (int same = 0; same < 100; ++same) {
      std::this_thread::sleep_for(Millis(10));
      const std::size_t now = testing::DescriptorsOf(pid);
      if (now != std::exchange(count, now)) same = 0;
    }
    return count;
  }

  const std::size_t descriptors_;
  const std::uint64_t peak_;
};

}  // namespace skerry::fuzz
