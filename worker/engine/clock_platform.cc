#include "worker/engine/clock_platform.h"

#include <utility>

namespace skerry::engine {

ClockPlatform::ClockPlatform(std::unique_ptr<v8::Platform> base) : base_(std::move(base)) {}

v8::Platform& ClockPlatform::RealClock() {
  ++reads_;
  return *base_;
}

int64_t ClockPlatform::CurrentClockTimeMilliseconds() {
  return frozen_ms_ ? static_cast<int64_t>(*frozen_ms_) : RealClock().CurrentClockTimeMilliseconds();
}
double ClockPlatform::CurrentClockTimeMillis() {
  return frozen_ms_ ? *frozen_ms_ : RealClock().CurrentClockTimeMillis();
}
double ClockPlatform::CurrentClockTimeMillisecondsHighResolution() {
  return frozen_ms_ ? *frozen_ms_ : RealClock().CurrentClockTimeMillisecondsHighResolution();
}

v8::PageAllocator* ClockPlatform::GetPageAllocator() {
  return base_->GetPageAllocator();
}
v8::ThreadIsolatedAllocator* ClockPlatform::GetThreadIsolatedAllocator() {
  return base_->GetThreadIsolatedAllocator();
}
void ClockPlatform::OnCriticalMemoryPressure() {
  base_->OnCriticalMemoryPressure();
}
int ClockPlatform::NumberOfWorkerThreads() {
  return base_->NumberOfWorkerThreads();
}
std::shared_ptr<v8::TaskRunner> ClockPlatform::GetForegroundTaskRunner(v8::Isolate* isolate,
                                                                       v8::TaskPriority priority) {
  return base_->GetForegroundTaskRunner(isolate, priority);
}
bool ClockPlatform::IdleTasksEnabled(v8::Isolate* isolate) {
  return base_->IdleTasksEnabled(isolate);
}
std::unique_ptr<v8::ScopedBoostablePriority> ClockPlatform::CreateBoostablePriorityScope() {
  return base_->CreateBoostablePriorityScope();
}
std::unique_ptr<v8::ScopedBlockingCall> ClockPlatform::CreateBlockingScope(v8::BlockingType type) {
  return base_->CreateBlockingScope(type);
}
double ClockPlatform::MonotonicallyIncreasingTime() {
  return base_->MonotonicallyIncreasingTime();
}
v8::Platform::StackTracePrinter ClockPlatform::GetStackTracePrinter() {
  return base_->GetStackTracePrinter();
}
v8::TracingController* ClockPlatform::GetTracingController() {
  return base_->GetTracingController();
}
void ClockPlatform::DumpWithoutCrashing() {
  base_->DumpWithoutCrashing();
}
v8::HighAllocationThroughputObserver* ClockPlatform::GetHighAllocationThroughputObserver() {
  return base_->GetHighAllocationThroughputObserver();
}

std::unique_ptr<v8::JobHandle> ClockPlatform::CreateJobImpl(v8::TaskPriority priority,
                                                            std::unique_ptr<v8::JobTask> job,
                                                            const v8::SourceLocation& location) {
  return base_->CreateJob(priority, std::move(job), location);
}
void ClockPlatform::PostTaskOnWorkerThreadImpl(v8::TaskPriority priority, std::unique_ptr<v8::Task> task,
                                               const v8::SourceLocation& location) {
  base_->PostTaskOnWorkerThread(priority, std::move(task), location);
}
void ClockPlatform::PostDelayedTaskOnWorkerThreadImpl(v8::TaskPriority priority,
                                                      std::unique_ptr<v8::Task> task, double delay_in_seconds,
                                                      const v8::SourceLocation& location) {
  base_->PostDelayedTaskOnWorkerThread(priority, std::move(task), delay_in_seconds, location);
}

}  // namespace skerry::engine
