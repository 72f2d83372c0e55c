// V8's platform with a wall clock that can stand still: what a program can learn of the time is what this
// says (DESIGN section 6.9). `Date` asks for whole milliseconds, `Temporal.Now` for high resolution; the
// monotonic clock, which only V8's own housekeeping reads, always runs.
//
//   ClockPlatform platform(v8::platform::NewSingleThreadedDefaultPlatform());
//   platform.SetClock(1'735'689'600'000);        // in a fork, before its program runs
//
// Threads: V8's one. Ownership: owns the platform that does everything else. Errors: none.
#pragma once

#include <v8-platform.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace skerry::engine {

class ClockPlatform final : public v8::Platform {
 public:
  explicit ClockPlatform(std::unique_ptr<v8::Platform> base);

  /// From now on it is always `clock_ms`, in ms since the epoch, exact up to 2^53; or real time.
  void SetClock(std::optional<std::uint64_t> clock_ms) {
    frozen_ms_.reset();
    if (clock_ms) frozen_ms_ = static_cast<double>(*clock_ms);
  }
  /// How often the real time has been asked for.
  std::uint64_t reads() const { return reads_; }

  int64_t CurrentClockTimeMilliseconds() override;
  double CurrentClockTimeMillis() override;
  double CurrentClockTimeMillisecondsHighResolution() override;

  // The rest is the base's.
  v8::PageAllocator* GetPageAllocator() override;
  v8::ThreadIsolatedAllocator* GetThreadIsolatedAllocator() override;
  void OnCriticalMemoryPressure() override;
  int NumberOfWorkerThreads() override;
  std::shared_ptr<v8::TaskRunner> GetForegroundTaskRunner(v8::Isolate* isolate,
                                                          v8::TaskPriority priority) override;
  bool IdleTasksEnabled(v8::Isolate* isolate) override;
  std::unique_ptr<v8::ScopedBoostablePriority> CreateBoostablePriorityScope() override;
  std::unique_ptr<v8::ScopedBlockingCall> CreateBlockingScope(v8::BlockingType type) override;
  double MonotonicallyIncreasingTime() override;
  StackTracePrinter GetStackTracePrinter() override;
  v8::TracingController* GetTracingController() override;
  void DumpWithoutCrashing() override;
  v8::HighAllocationThroughputObserver* GetHighAllocationThroughputObserver() override;

 protected:
  std::unique_ptr<v8::JobHandle> CreateJobImpl(v8::TaskPriority priority, std::unique_ptr<v8::JobTask> job,
                                               const v8::SourceLocation& location) override;
  void PostTaskOnWorkerThreadImpl(v8::TaskPriority priority, std::unique_ptr<v8::Task> task,
                                  const v8::SourceLocation& location) override;
  void PostDelayedTaskOnWorkerThreadImpl(v8::TaskPriority priority, std::unique_ptr<v8::Task> task,
                                         double delay_in_seconds,
                                         const v8::SourceLocation& location) override;

 private:
  /// The base, whose real time is asked for.
  v8::Platform& RealClock();

  const std::unique_ptr<v8::Platform> base_;
  std::optional<double> frozen_ms_;
  std::uint64_t reads_ = 0;
};

}  // namespace skerry::engine
