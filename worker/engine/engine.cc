#include "worker/engine/engine.h"

#include <unistd.h>
#include <v8-initialization.h>

#include <utility>

#include "worker/engine/clock_platform.h"
#include "worker/engine/host/hot_pages.h"
#include "worker/engine/host/huge_text.h"
#include "worker/engine/host/job_heap.h"
#include "worker/engine/host/memory_guard.h"
#include "worker/engine/host/read_only_runs.h"
#include "worker/engine/job_run.h"
#include "worker/engine/keeping_port.h"
#include "worker/engine/libraries.h"
#include "worker/engine/prelude.h"
#include "worker/engine/template.h"
#include "worker/engine/v8_start.h"
#include "worker/engine/warming_port.h"

namespace skerry::engine {
namespace {

// V8's default stack (--stack-size): what programs written for Node can recurse. A job must have it wherever
// on the 8 MiB of the main thread it is started.
constexpr std::uintptr_t kStackBytes = 984u << 10;

class V8Engine : public Engine {
 public:
  V8Engine(std::unique_ptr<ClockPlatform> platform, std::unique_ptr<Template> made)
      : platform_(std::move(platform)), template_(std::move(made)) {}

  void Rehearse() override {
    Program program;
    program.code = prelude::kRehearsal;
    program.input = R"({"a":19,"b":23})";
    WarmingPort port;
    MergeReadOnlyRuns();
    hot_ = HotPages::Learn([&] {
      OpenJobHeap();
      Run(program, port);
    });
    hot_.MoveConstants();
  }

  void Prepare() override {
    OpenJobHeap();
    hot_.Populate();
  }

  Status Load(const LibraryText& library) override {
    const Entered entered(*template_);
    // Every cell's libraries are the same, whenever it was made.
    platform_->SetClock(kFrozenClockMs);
    Status loaded = libraries_.Load(entered.context, library);
    platform_->SetClock(std::nullopt);
    if (loaded) template_->Sweep();
    return loaded;
  }

  std::optional<Unkeepable> Keep(const Program& program, Seeding seeding) override {
    const Entered entered(*template_);
    Arm(program);
    KeepingPort port;
    kept_.emplace();
    const std::uint64_t clock_reads = platform_->reads();
    auto unkeepable = JobRun(entered.context, template_->intrinsics(), program, port).Keep(seeding, &*kept_);
    if (port.said()) unkeepable = port.said();
    if (!unkeepable && platform_->reads() != clock_reads) unkeepable = Unkeepable::kReadsClock;
    if (!unkeepable) template_->Sweep();
    MemoryGuard::Disarm();
    return unkeepable;
  }

  Outcome Run(const Program& program, JobPort& port) override {
    const Entered entered(*template_);
    Arm(program);
    Outcome outcome =
        JobRun(entered.context, template_->intrinsics(), program, port, kept_ ? &*kept_ : nullptr).Run();
    outcome.usage.heap_peak_bytes = template_->budget().HeapPeakBytes();
    return outcome;
  }

  Status Renew() override { return template_->Renew(); }

 private:
  static void OpenJobHeap() { process_job_heap.Open(sbrk(0)); }

  /// JavaScript can run while one lives, with the stack of a job from here on.
  struct Entered {
    explicit Entered(Template& made)
        : scope(made.isolate()), context(made.context()), context_scope(context) {
      char here = 0;
      made.isolate()->SetStackLimit(reinterpret_cast<std::uintptr_t>(&here) - kStackBytes);
    }
    v8::HandleScope scope;
    v8::Local<v8::Context> context;
    v8::Context::Scope context_scope;
  };

  /// The limits of a job that this process knows of itself. What a kept program holds counts, so it is its
  /// budget that goes on.
  void Arm(const Program& program) {
    if (!kept_) template_->budget().Arm(Bytes::MiB(program.limits.memory_mb()));
    MemoryGuard::Arm();
    platform_->SetClock(program.clock_ms);
  }

  std::unique_ptr<ClockPlatform> platform_;
  std::unique_ptr<Template> template_;
  HotPages hot_;
  Libraries libraries_;
  std::optional<KeptProgram> kept_;
};

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Start(const EngineOptions& options) {
  if (options.text == TextPages::kHuge) MoveTextToHugePages();
  auto platform = StartV8(options.jit);
  if (!platform) return Fail(platform.error());
  auto made = Template::Make(options);
  if (!made) return Fail(made.error());
  process_job_heap.Reserve();
  return std::make_unique<V8Engine>(std::move(*platform), std::move(*made));
}

std::string_view V8Version() {
  return v8::V8::GetVersion();
}

}  // namespace skerry::engine
