#include "broker/queue/dispatch_queue.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "broker/sessions/session_registry.h"

namespace skerry::broker {
namespace {

constexpr Bytes kPlenty = Bytes::MiB(64);

Job Waiting(std::size_t payload_bytes = 0) {
  Job job;
  job.payloads[0] = Payload(std::string(payload_bytes, 'x'));
  return job;
}

bool HasRoom(const DispatchQueue& queue, std::size_t code_bytes) {
  return queue.HasRoomFor(Payload(std::string(code_bytes, 'y')), Payload(), DispatchQueue::Code::kOwn);
}

TEST(DispatchQueue, IsFirstInFirstOutAndARequeuedJobGoesToTheFront) {
  DispatchQueue queue({.max_jobs = 10, .max_bytes = kPlenty});
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
  DispatchQueue queue({.max_jobs = 2, .max_bytes = kPlenty});
  Job a = Waiting(), b = Waiting();
  queue.Push(a);
  EXPECT_TRUE(HasRoom(queue, 0));
  queue.Push(b);
  EXPECT_FALSE(HasRoom(queue, 0));
  queue.Remove(a);
  EXPECT_TRUE(HasRoom(queue, 0));
}

TEST(DispatchQueue, LeavesRoomWhileATenantHoldsLessThanEightTimesWhatIsFree) {
  DispatchQueue queue({.max_jobs = 18, .max_bytes = kPlenty});
  std::vector<Job> jobs(18);
  for (int i = 0; i < 15; ++i) queue.Push(jobs[static_cast<std::size_t>(i)]);
  EXPECT_TRUE(queue.LeavesRoom(TenantId())) << "15 of 8 x 3";
  queue.Push(jobs[15]);
  EXPECT_FALSE(queue.LeavesRoom(TenantId())) << "16 of 8 x 2";
  EXPECT_TRUE(queue.LeavesRoom(TenantId("another"))) << "which holds nothing";
  queue.Remove(jobs[0]);
  EXPECT_TRUE(queue.LeavesRoom(TenantId()));
  for (int i = 1; i < 16; ++i) queue.Remove(jobs[static_cast<std::size_t>(i)]);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(DispatchQueue, LeavesRoomInBytesToo) {
  constexpr std::uint64_t kOfNine = 8 * 100'000;
  DispatchQueue queue({.max_jobs = 1'000, .max_bytes = Bytes(9 * 100'000)});
  Job most = Waiting(kOfNine - 1 - DispatchQueue::kBytesPerJob);
  queue.Push(most);
  EXPECT_TRUE(queue.LeavesRoom(TenantId())) << "799,999 of 8 x 100,001";
  queue.Remove(most);
  Job all = Waiting(kOfNine - DispatchQueue::kBytesPerJob);
  queue.Push(all);
  EXPECT_FALSE(queue.LeavesRoom(TenantId())) << "800,000 of 8 x 100,000";
  queue.Remove(all);
}

TEST(DispatchQueue, IsBoundedByBytesButAnEmptyOneTakesAnyJob) {
  DispatchQueue queue({.max_jobs = 10, .max_bytes = Bytes::KiB(64)});
  EXPECT_TRUE(HasRoom(queue, 1 << 20));
  Job big = Waiting(60 * 1024);
  queue.Push(big);
  EXPECT_TRUE(HasRoom(queue, 1024));
  EXPECT_FALSE(HasRoom(queue, 4096));
}

TEST(DispatchQueue, GivesOutJobsWhoseDeadlineHasCome) {
  DispatchQueue queue({.max_jobs = 10, .max_bytes = kPlenty});
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
  DispatchQueue queue({.max_jobs = 10, .max_bytes = kPlenty});
  Job a = Waiting(100), b = Waiting(100);
  queue.Push(a);
  queue.Push(b);
  queue.Remove(a);
  queue.Remove(a);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.bytes(), DispatchQueue::kBytesPerJob + 100);
}

struct Named {  // jobs with libraries, of one session
  Job Make(LibraryNames libraries) {
    Job job;
    Terms terms;
    terms.libraries = std::move(libraries);
    job.terms = shared.terms.Hold(std::move(terms));
    return job;
  }
  static bool IsA(std::span<const std::string> libraries) { return libraries[0] == "a"; }
  SharedParts shared;
};

TEST(DispatchQueue, AParkedJobIsPassedAndTakesItsPlaceAgain) {
  Named named;
  DispatchQueue queue({.max_jobs = 10, .max_bytes = kPlenty});
  Job first = named.Make({"a"}), second = named.Make({"a"}), third = named.Make({"b"}), plain = Waiting();
  for (Job* job : {&first, &second, &third, &plain}) queue.Push(*job);
  queue.Park(first);
  queue.Park(second);
  queue.Park(third);
  EXPECT_EQ(queue.parked(), 3u);
  EXPECT_EQ(queue.size(), 4u);
  EXPECT_EQ(queue.Front(), &plain);
  Job requeued = Waiting();
  queue.PushFront(requeued);
  queue.Unpark(Named::IsA);
  EXPECT_EQ(queue.parked(), 1u);
  for (Job* expected : {&requeued, &first, &second, &plain}) {
    EXPECT_EQ(queue.Front(), expected);
    queue.Remove(*expected);
  }
  EXPECT_EQ(queue.Front(), nullptr);
  queue.Remove(third);
  EXPECT_EQ(queue.parked(), 0u);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(DispatchQueue, AnyParkedJobMayGoAndTheOthersAreStillFound) {
  for (std::size_t gone = 0; gone < 3; ++gone) {
    Named named;
    DispatchQueue queue({.max_jobs = 10, .max_bytes = kPlenty});
    Job jobs[] = {named.Make({"a", "b"}), named.Make({"b", "a"}), named.Make({"a", "b"})};
    for (Job& job : jobs) queue.Push(job);
    for (Job& job : jobs) queue.Park(job);
    queue.Remove(jobs[gone]);
    EXPECT_EQ(queue.parked(), 2u);
    int asked = 0;
    queue.Unpark([&](std::span<const std::string>) { return ++asked > 0; });
    EXPECT_EQ(asked, 1) << "the same libraries in another order are the same";
    for (std::size_t i = 0; i < 3; ++i) {
      if (i == gone) continue;
      EXPECT_EQ(queue.Front(), &jobs[i]);
      queue.Remove(jobs[i]);
    }
    EXPECT_TRUE(queue.empty());
  }
}

TEST(DispatchQueue, AParkedJobExpiresAndAHeldLineStaysHeldWhenItComesBack) {
  Named named;
  DispatchQueue queue({.max_jobs = 10, .max_bytes = kPlenty});
  Session session;
  Job job = named.Make({"a"}), behind = Waiting();
  job.session = behind.session = &session;
  job.deadline = TimePoint(Millis(10));
  queue.Push(job);
  queue.Push(behind);
  queue.Park(job);
  EXPECT_EQ(queue.Expired(TimePoint(Millis(10))), &job);
  queue.fair().Hold(session);
  queue.Unpark(Named::IsA);
  EXPECT_EQ(queue.Front(), nullptr);
  queue.fair().Release(session);
  EXPECT_EQ(queue.Front(), &job);
}

}  // namespace
}  // namespace skerry::broker
