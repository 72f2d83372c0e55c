#include "broker/dispatch_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace skerry::broker {
namespace {

constexpr Bytes kPlenty = Bytes::MiB(64);

Job Waiting(std::size_t payload_bytes = 0) {
  Job job;
  job.payloads[0] = Payload(std::string(payload_bytes, 'x'));
  return job;
}

TEST(DispatchQueue, IsFirstInFirstOutAndARequeuedJobGoesToTheFront) {
  DispatchQueue queue(10, kPlenty);
  Job a = Waiting(), b = Waiting(), c = Waiting();
  queue.Push(a);
  queue.Push(b);
  queue.PushFront(c);
  EXPECT_EQ(queue.Front(), &c);
  queue.Remove(c);
  EXPECT_EQ(queue.Front(), &a);
  queue.Remove(a);
  EXPECT_EQ(queue.Front(), &b);
  queue.Remove(b);
  EXPECT_EQ(queue.Front(), nullptr);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(DispatchQueue, TakesExactlyItsNumberOfJobs) {
  DispatchQueue queue(2, kPlenty);
  Job a = Waiting(), b = Waiting();
  queue.Push(a);
  EXPECT_TRUE(queue.HasRoomFor(0));
  queue.Push(b);
  EXPECT_FALSE(queue.HasRoomFor(0));
  queue.Remove(a);
  EXPECT_TRUE(queue.HasRoomFor(0));
}

TEST(DispatchQueue, IsBoundedByBytesButAnEmptyOneTakesAnyJob) {
  DispatchQueue queue(10, Bytes::KiB(64));
  EXPECT_TRUE(queue.HasRoomFor(1 << 20));
  Job big = Waiting(60 * 1024);
  queue.Push(big);
  EXPECT_TRUE(queue.HasRoomFor(1024));
  EXPECT_FALSE(queue.HasRoomFor(4096));
}

TEST(DispatchQueue, GivesOutJobsWhoseDeadlineHasCome) {
  DispatchQueue queue(10, kPlenty);
  Job late = Waiting(), soon = Waiting(), never = Waiting();
  late.deadline = TimePoint(Millis(20));
  soon.deadline = TimePoint(Millis(10));
  queue.Push(late);
  queue.Push(soon);
  queue.Push(never);
  EXPECT_EQ(queue.NextDeadline(), TimePoint(Millis(10)));
  EXPECT_EQ(queue.Expired(TimePoint(Millis(9))), nullptr);
  EXPECT_EQ(queue.Expired(TimePoint(Millis(10))), &soon);
  queue.Remove(soon);
  EXPECT_EQ(queue.Expired(TimePoint(Millis(10))), nullptr);
  queue.Remove(late);
  EXPECT_EQ(queue.NextDeadline(), std::nullopt);
}

TEST(DispatchQueue, RemovingAJobTwiceCountsItOnce) {
  DispatchQueue queue(10, kPlenty);
  Job a = Waiting(100), b = Waiting(100);
  queue.Push(a);
  queue.Push(b);
  queue.Remove(a);
  queue.Remove(a);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.bytes(), DispatchQueue::BytesOf(b));
}

}  // namespace
}  // namespace skerry::broker
